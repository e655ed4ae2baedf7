"""The held-out prompts that arms are measured on: short, of different topics, used by no benchmark and no census.

Short, because computing a prompt makes the engine read a good part of the model; different, because each topic
uses other experts and a run is to begin with a cache that another topic has filled.
"""

PROMPTS = (
    "The history of bread begins with",
    "def parse_date(text: str) -> date:",
    "Dear Ms. Alvarez, thank you for your letter about",
)
