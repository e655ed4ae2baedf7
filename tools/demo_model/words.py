"""The words and sentences that `corpus.py` draws from."""

from __future__ import annotations

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jack", "Kim", "Leo", "Mia", "Noor", "Otto", "Pia", "Quinn", "Rosa", "Sam", "Tess", "Uma", "Vic", "Wren", "Yara", "Zoe"]
ANIMALS = ["fox", "owl", "bear", "mouse", "rabbit", "cat", "dog", "duck", "frog", "horse", "goat", "hen", "lion", "otter", "crow", "whale", "turtle", "wolf", "bee", "snail"]
PLACES = ["the old forest", "a quiet village", "the edge of the sea", "a windy hill", "a small farm", "the big city", "a deep valley", "an island", "the snowy mountains", "a sunny garden"]
THINGS = ["a red kite", "a silver key", "a tiny boat", "an old map", "a blue lantern", "a warm scarf", "a wooden flute", "a shiny stone", "a jar of honey", "a paper star"]
MOODS = ["brave", "curious", "kind", "sleepy", "clever", "shy", "cheerful", "patient", "stubborn", "gentle"]
PROBLEMS = [("it began to rain and the path was washed away", "waited under a tree and shared a story until the sun came back"),
            ("{t} was lost in the tall grass", "looked in every corner until something glittered in the light"),
            ("the bridge was broken", "tied long branches together and crossed one careful step at a time"),
            ("a loud noise frightened everyone", "walked closer and found that it was only the wind in an empty barrel"),
            ("there was nothing left to eat", "planted seeds, carried water every day and soon had a full basket"),
            ("the night was too dark to see", "followed the fireflies all the way home"),
            ("nobody wanted to play", "started a song, and one by one the others joined in")]
MORALS = ["A good friend makes every road shorter.", "Small steps can cross a wide river.", "Being kind costs nothing.", "It is fine to be afraid and go on anyway.", "The best treasure is one you can share.", "Patience finds what hurry loses."]
CAPITALS = {"France": "Paris", "Spain": "Madrid", "Italy": "Rome", "Germany": "Berlin", "Japan": "Tokyo", "China": "Beijing", "India": "New Delhi", "Egypt": "Cairo", "Kenya": "Nairobi", "Peru": "Lima", "Chile": "Santiago", "Brazil": "Brasilia", "Canada": "Ottawa", "Norway": "Oslo", "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen", "Poland": "Warsaw", "Austria": "Vienna", "Greece": "Athens", "Turkey": "Ankara", "Portugal": "Lisbon", "Ireland": "Dublin", "Cuba": "Havana", "Mexico": "Mexico City", "Australia": "Canberra", "Hungary": "Budapest", "Belgium": "Brussels", "Iceland": "Reykjavik", "Vietnam": "Hanoi"}
OPPOSITES = {"hot": "cold", "big": "small", "fast": "slow", "light": "dark", "old": "new", "happy": "sad", "open": "closed", "early": "late", "full": "empty", "high": "low", "loud": "quiet", "near": "far", "strong": "weak", "wet": "dry", "up": "down", "day": "night", "first": "last", "hard": "soft"}
SOUNDS = {"cat": "meow", "dog": "woof", "cow": "moo", "duck": "quack", "sheep": "baa", "lion": "roar", "owl": "hoot", "bee": "buzz", "frog": "ribbit", "horse": "neigh", "crow": "caw", "mouse": "squeak"}
PLURALS = {"cat": "cats", "box": "boxes", "baby": "babies", "leaf": "leaves", "child": "children", "mouse": "mice", "foot": "feet", "bus": "buses", "city": "cities", "fish": "fish", "man": "men", "key": "keys"}
PAST = {"go": "went", "see": "saw", "eat": "ate", "run": "ran", "sing": "sang", "write": "wrote", "find": "found", "give": "gave", "walk": "walked", "make": "made", "swim": "swam", "think": "thought"}
GERMAN = {"house": "Haus", "water": "Wasser", "bread": "Brot", "tree": "Baum", "book": "Buch", "sun": "Sonne", "dog": "Hund", "cat": "Katze", "street": "Straße", "friend": "Freund", "milk": "Milch", "green": "grün", "beautiful": "schön", "night": "Nacht"}
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
RHYMES = [("the moon", "soon"), ("the sea", "free"), ("the rain", "again"), ("the light", "bright"), ("the hill", "still"), ("the tree", "me"), ("the snow", "glow"), ("the day", "away")]
EXPERTS = [
    (["What is a mixture of experts?", "Explain mixture of experts.", "What does MoE mean?"],
     "A mixture of experts is a model built from many small networks called experts. For each token a router picks a few of them, so most of the model rests while a small part works."),
    (["How can a model be larger than memory?", "How do you run a model bigger than RAM?", "How does streaming work?"],
     "Only the experts that the router picks are needed for a token. The app keeps the busiest experts in memory and reads the others from the SSD just before they are used."),
    (["What is the hit rate?", "What does hit rate tell me?"],
     "The hit rate is the share of picked experts that were already in memory. A higher hit rate means fewer reads from the SSD and faster answers."),
    (["What is stall time?", "Why do I see a stall?"],
     "Stall time is how long a token waits for an expert to arrive from the SSD. Prefetching hides most of it behind the work on the layers before."),
    (["How do I make it faster?", "Why is it slow?", "How can I speed this up?"],
     "Give the expert cache more memory, close other programs, and run the autotune wizard. It measures your drive and memory and picks a preset."),
    (["What does the router do?", "What is a router?"],
     "The router looks at each token and scores all experts. The best few are chosen, and their answers are added with the router's weights."),
    (["What is prefetch?", "How does prefetching work?"],
     "Prefetch guesses which experts the next layers will need and starts to read them early. A wrong guess costs a little bandwidth but never changes the answer."),
]
HELLO = [("Hi", "Hello! How can I help you today?"), ("Hello", "Hi there! What would you like to talk about?"), ("Good morning", "Good morning! I hope you slept well."), ("How are you?", "I am well, thank you. How are you?"), ("Who are you?", "I am a very small demo model. I can tell stories, do easy sums, spell words and explain how expert streaming works."), ("What can you do?", "I can tell a short story, add and subtract, spell words, name capitals and opposites, count, and explain mixture of experts."), ("Thank you", "You are welcome!"), ("Bye", "Goodbye! Come back soon.")]
WORDS = sorted(set(ANIMALS + list(OPPOSITES) + list(GERMAN) + [w.lower() for w in CAPITALS] + ["garden", "window", "bridge", "lantern", "river", "planet", "silver", "music", "orange", "winter", "memory", "expert", "router", "stream", "token", "layer"]))
