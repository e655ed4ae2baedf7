"""The held-out prompts that arms are measured on: short, of different topics, used by no benchmark and no census.

Short, because computing a prompt makes the engine read a good part of the model; different, because each topic
uses other experts and a run is to begin with a cache that another topic has filled.
"""

PROMPTS = (
    "The history of bread begins with",
    "def parse_date(text: str) -> date:",
    "Dear Ms. Alvarez, thank you for your letter about",
)

LONG_TEXT = """The lighthouse at the end of the pier was built in 1871, after the brig Anna Sofia had broken up on the
sandbank with all hands. Its first keeper, a retired cooper, kept a diary of weather, ships and visitors for thirty-one
years; the volumes fill a shelf in the town library. On 3 March 1884 he notes: wind from the north-west, force nine, two
panes lost, a woodcock killed against the glass. The lamp burned rape oil until 1902, then paraffin vapour, and since
1958 electricity: 1,000 watts, three flashes every twenty seconds, visible for 17.5 nautical miles in clear air.
To find the height of the tower without climbing it, stand where its top makes an angle of 45 degrees with the ground,
measure the distance to its foot, and add the height of your eyes: 28 m + 1.6 m = 29.6 m. A small program does the same
for any angle: def height(distance, angle, eyes=1.6): return distance * math.tan(math.radians(angle)) + eyes.
Dear visitor, the stairs have 142 steps and no lift. Children under ten climb with an adult; dogs wait below. Tickets
cost 4 euros, 2.50 for groups of eight and more, and the money goes to the lifeboat. Was ist von oben zu sehen? Bei
gutem Wetter die Inseln, die Faehre und abends das Feuer von Kap Arkona. In the kitchen of the keeper's house the recipe
for his soup still hangs on the wall: brown two onions in butter, add a pound of floury potatoes, a bay leaf and a quart
of stock, simmer until soft, pass through a sieve, and stir in smoked eel just before serving. Biologists count
migrating birds here every autumn; last year they ringed 9,413, most of them robins and goldcrests, and wrote down wing
length, weight and fat. The data, as comma-separated values with one line per bird, can be had from the observatory.
"""
"""A long prompt for comparing prompt batches, repeated where a longer one is wanted; its topics change often."""
