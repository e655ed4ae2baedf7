<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>presets</name>
  <message>
   <source>Above 1 makes words of the last 64 tokens less likely.</source>
   <translation>Über 1 werden Wörter der letzten 64 Token unwahrscheinlicher.</translation>
  </message>
  <message>
   <source>Answers</source>
   <translation>Antworten</translation>
  </message>
  <message>
   <source>Ask again</source>
   <translation>Noch einmal fragen</translation>
  </message>
  <message>
   <source>Asking the engine</source>
   <translation>Die Engine wird gefragt</translation>
  </message>
  <message>
   <source>At temperature 0 nothing is left to chance, so the seed does nothing.</source>
   <translation>Bei Temperatur 0 bleibt nichts dem Zufall überlassen, also bewirkt der Startwert nichts.</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Back to the default</source>
   <translation>Zurück zur Vorgabe</translation>
  </message>
  <message>
   <source>Balanced</source>
   <translation>Ausgewogen</translation>
  </message>
  <message>
   <source>Check that lookahead pays</source>
   <translation>Prüfen, ob Vorausschau sich lohnt</translation>
  </message>
  <message>
   <source>Choose among the likeliest tokens that together have this probability.</source>
   <translation>Unter den wahrscheinlichsten Token wählen, die zusammen diese Wahrscheinlichkeit haben.</translation>
  </message>
  <message>
   <source>Choose among this many likeliest tokens; 0 looks at all.</source>
   <translation>Unter so vielen wahrscheinlichsten Token wählen; 0 betrachtet alle.</translation>
  </message>
  <message>
   <source>Compute a few tokens without lookahead now and then, and leave it off where they are faster.</source>
   <translation>Ab und zu einige Token ohne Vorausschau berechnen und sie weglassen, wo es so schneller geht.</translation>
  </message>
  <message>
   <source>Compute threads</source>
   <translation>Rechen-Threads</translation>
  </message>
  <message>
   <source>Computing</source>
   <translation>Rechnen</translation>
  </message>
  <message>
   <source>Context length</source>
   <translation>Kontextlänge</translation>
  </message>
  <message>
   <source>Count which experts a model uses and read the most used ones in idle time after the next start.</source>
   <translation>Zählen, welche Experten ein Modell benutzt, und nach dem nächsten Start die meistbenutzten in freier Zeit lesen.</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <source>Early reads at a time</source>
   <translation>Frühe Lesezugriffe zugleich</translation>
  </message>
  <message>
   <source>Elastic cache</source>
   <translation>Elastischer Cache</translation>
  </message>
  <message>
   <source>Expert cache</source>
   <translation>Experten-Cache</translation>
  </message>
  <message>
   <source>Experts are read early only while fewer reads than this are going on.</source>
   <translation>Experten werden nur früh gelesen, solange weniger Lesezugriffe als so viele laufen.</translation>
  </message>
  <message>
   <source>Fastest</source>
   <translation>Am schnellsten</translation>
  </message>
  <message>
   <source>Flash attention</source>
   <translation>Flash-Attention</translation>
  </message>
  <message>
   <source>How freely the next word is chosen; 0 always takes the likeliest.</source>
   <translation>Wie frei das nächste Wort gewählt wird; 0 nimmt immer das wahrscheinlichste.</translation>
  </message>
  <message>
   <source>How likely a predicted expert must be to be read early, from 0 to 1. Automatic: the less likely the idler the drive is.</source>
   <translation>Wie wahrscheinlich ein vorhergesagter Experte sein muss, um früh gelesen zu werden, von 0 bis 1. Automatisch: je mehr das Laufwerk ruht, desto weniger wahrscheinlich.</translation>
  </message>
  <message>
   <source>How many experts of a layer are predicted. Automatic: as many as a token uses.</source>
   <translation>Wie viele Experten einer Schicht vorhergesagt werden. Automatisch: so viele, wie ein Token benutzt.</translation>
  </message>
  <message>
   <source>How many layers ahead experts are predicted and read early; 0 reads only what is needed now.</source>
   <translation>Wie viele Schichten im Voraus Experten vorhergesagt und gelesen werden; 0 liest nur, was jetzt gebraucht wird.</translation>
  </message>
  <message>
   <source>How much conversation the model sees at once; never more than the model was made for.</source>
   <translation>Wie viel Gespräch das Modell auf einmal sieht; nie mehr, als wofür es gemacht ist.</translation>
  </message>
  <message>
   <source>It knows which settings there are.</source>
   <translation>Sie weiß, welche Einstellungen es gibt.</translation>
  </message>
  <message>
   <source>Keeps half of the memory for other programs; answers come more slowly.</source>
   <translation>Lässt den anderen Programmen die Hälfte des Speichers; Antworten kommen langsamer.</translation>
  </message>
  <message>
   <source>Leave out tokens less likely than this share of the likeliest one.</source>
   <translation>Token weglassen, die unwahrscheinlicher sind als dieser Anteil des wahrscheinlichsten.</translation>
  </message>
  <message>
   <source>Light on memory</source>
   <translation>Sparsam mit Speicher</translation>
  </message>
  <message>
   <source>Long context</source>
   <translation>Langer Kontext</translation>
  </message>
  <message>
   <source>Lookahead</source>
   <translation>Vorausschau</translation>
  </message>
  <message>
   <source>Lookahead width</source>
   <translation>Breite der Vorhersage</translation>
  </message>
  <message>
   <source>Make the expert cache smaller while other programs need memory, and larger again afterwards.</source>
   <translation>Verkleinert den Experten-Cache, während andere Programme Speicher brauchen, und vergrößert ihn danach wieder.</translation>
  </message>
  <message>
   <source>Measured on this computer for the model in use.</source>
   <translation>Auf diesem Rechner für das benutzte Modell gemessen.</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Arbeitsspeicher</translation>
  </message>
  <message>
   <source>Memory for experts read from the SSD. Automatic: what is free on this machine, less a reserve.</source>
   <translation>Speicher für Experten, die von der SSD gelesen werden. Automatisch: was auf diesem Rechner frei ist, abzüglich einer Reserve.</translation>
  </message>
  <message>
   <source>Memory left free</source>
   <translation>Frei gelassener Speicher</translation>
  </message>
  <message>
   <source>Min-p</source>
   <translation>Min-p</translation>
  </message>
  <message>
   <source>More compute threads than the {cores} cores here usually make it slower.</source>
   <translation>Mehr Rechen-Threads als die {cores} Kerne hier machen es meist langsamer.</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Not saved yet.</source>
   <translation>Noch nicht gespeichert.</translation>
  </message>
  <message>
   <source>On</source>
   <translation>An</translation>
  </message>
  <message>
   <source>On battery compute on half of the cores, unless a number of threads is set.</source>
   <translation>Rechnet im Akkubetrieb auf der Hälfte der Kerne, wenn keine Anzahl von Threads eingestellt ist.</translation>
  </message>
  <message>
   <source>Plain llama.cpp</source>
   <translation>Reines llama.cpp</translation>
  </message>
  <message>
   <source>Plain llama.cpp reads no experts: cache, lookahead and read threads do nothing.</source>
   <translation>Reines llama.cpp liest keine Experten: Cache, Vorausschau und Lese-Threads bewirken nichts.</translation>
  </message>
  <message>
   <source>Preset</source>
   <translation>Voreinstellung</translation>
  </message>
  <message>
   <source>Prompt batch</source>
   <translation>Prompt-Stapel</translation>
  </message>
  <message>
   <source>Prompt tokens that pass through the layers together; larger reads each expert less often.</source>
   <translation>Prompt-Token, die gemeinsam durch die Schichten gehen; mehr liest jeden Experten seltener.</translation>
  </message>
  <message>
   <source>Read threads</source>
   <translation>Lese-Threads</translation>
  </message>
  <message>
   <source>Read-ahead bar</source>
   <translation>Schwelle für frühes Lesen</translation>
  </message>
  <message>
   <source>Remember popular experts</source>
   <translation>Beliebte Experten merken</translation>
  </message>
  <message>
   <source>Repeat penalty</source>
   <translation>Wiederholungsstrafe</translation>
  </message>
  <message>
   <source>Room for a book: 32,768 tokens where the model allows it, paid for with cache.</source>
   <translation>Platz für ein Buch: 32.768 Token, wo das Modell es erlaubt, bezahlt mit Cache.</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Save as a new preset</source>
   <translation>Als neue Voreinstellung speichern</translation>
  </message>
  <message>
   <source>Save as…</source>
   <translation>Speichern als …</translation>
  </message>
  <message>
   <source>Save the battery</source>
   <translation>Akku schonen</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Startwert</translation>
  </message>
  <message>
   <source>Speed</source>
   <translation>Tempo</translation>
  </message>
  <message>
   <source>Start of the random numbers of sampling; the same seed gives the same answer. Empty: a new one.</source>
   <translation>Startwert der Zufallszahlen; derselbe gibt dieselbe Antwort. Leer: ein neuer.</translation>
  </message>
  <message>
   <source>Start the engine</source>
   <translation>Engine starten</translation>
  </message>
  <message>
   <source>Stock llama.cpp with nothing of Gannet's switched on; the model is mapped into memory.</source>
   <translation>Unverändertes llama.cpp, nichts von Gannet ist an; das Modell wird in den Speicher eingeblendet.</translation>
  </message>
  <message>
   <source>Takes nearly all free memory and reads with more threads; other programs may feel it.</source>
   <translation>Nimmt fast allen freien Speicher und liest mit mehr Threads; andere Programme können es spüren.</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <source>The cache is nearly as large as this computer's memory ({memory}); it will be smaller.</source>
   <translation>Der Cache ist fast so groß wie der Speicher dieses Rechners ({memory}); er wird kleiner ausfallen.</translation>
  </message>
  <message>
   <source>The engine did not answer</source>
   <translation>Die Engine hat nicht geantwortet</translation>
  </message>
  <message>
   <source>The engine is not running</source>
   <translation>Die Engine läuft nicht</translation>
  </message>
  <message>
   <source>The faster attention computation, with a smaller work buffer.</source>
   <translation>Die schnellere Berechnung der Attention, mit kleinerem Arbeitspuffer.</translation>
  </message>
  <message>
   <source>The prompt batch is larger than the context, so {context} tokens are used.</source>
   <translation>Der Prompt-Stapel ist größer als der Kontext, also werden {context} Token verwendet.</translation>
  </message>
  <message>
   <source>This model was made for {limit} tokens of context; more is not used.</source>
   <translation>Dieses Modell ist für {limit} Token Kontext gemacht; mehr wird nicht verwendet.</translation>
  </message>
  <message>
   <source>Threads that compute. Automatic: one for each fast core this program may use.</source>
   <translation>Threads, die rechnen. Automatisch: einer für jeden schnellen Kern, den dieses Programm benutzen darf.</translation>
  </message>
  <message>
   <source>Threads that read experts from the SSD at the same time.</source>
   <translation>Threads, die gleichzeitig Experten von der SSD lesen.</translation>
  </message>
  <message>
   <source>Top-k</source>
   <translation>Top-k</translation>
  </message>
  <message>
   <source>Top-p</source>
   <translation>Top-p</translation>
  </message>
  <message>
   <source>Trained lookahead</source>
   <translation>Trainierte Vorausschau</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <source>Use</source>
   <translation>Verwenden</translation>
  </message>
  <message>
   <source>Use what `gannet fit-lookahead` has learnt about a model to predict its experts better.</source>
   <translation>Nutzt, was `gannet fit-lookahead` über ein Modell gelernt hat, um seine Experten besser vorherzusagen.</translation>
  </message>
  <message>
   <source>Uses the memory that is free and leaves a reserve for other programs.</source>
   <translation>Nutzt den freien Speicher und lässt anderen Programmen eine Reserve.</translation>
  </message>
  <message>
   <source>What an automatic expert cache leaves for other programs.</source>
   <translation>Was ein automatischer Experten-Cache anderen Programmen lässt.</translation>
  </message>
  <message>
   <source>Which settings are there?</source>
   <translation>Welche Einstellungen gibt es?</translation>
  </message>
  <message>
   <source>With one read thread, reading ahead makes the experts that are needed now wait. Use 4 or more.</source>
   <translation>Mit einem Lese-Thread lässt das Vorauslesen die Experten warten, die jetzt gebraucht werden. Nehmen Sie 4 oder mehr.</translation>
  </message>
  <message>
   <source>Your presets could not be read ({problem}). They are kept as {name}.</source>
   <translation>Ihre Voreinstellungen waren nicht lesbar ({problem}). Sie liegen jetzt als {name}.</translation>
  </message>
  <message>
   <source>automatic</source>
   <translation>automatisch</translation>
  </message>
  <message>
   <source>changed, default {value}</source>
   <translation>geändert, Vorgabe {value}</translation>
  </message>
  <message>
   <source>has the wrong kind of value</source>
   <translation>hat die falsche Art Wert</translation>
  </message>
  <message>
   <source>is above {limit}</source>
   <translation>ist größer als {limit}</translation>
  </message>
  <message>
   <source>is below {limit}</source>
   <translation>ist kleiner als {limit}</translation>
  </message>
  <message>
   <source>is none of: {choices}</source>
   <translation>ist keines von: {choices}</translation>
  </message>
  <message>
   <source>is not a number</source>
   <translation>ist keine Zahl</translation>
  </message>
  <message>
   <source>is not a whole number</source>
   <translation>ist keine ganze Zahl</translation>
  </message>
  <message>
   <source>layer</source>
   <translation>Schicht</translation>
  </message>
  <message>
   <source>layers</source>
   <translation>Schichten</translation>
  </message>
  <message>
   <source>needs a value</source>
   <translation>braucht einen Wert</translation>
  </message>
  <message>
   <source>off</source>
   <translation>aus</translation>
  </message>
  <message>
   <source>on</source>
   <translation>an</translation>
  </message>
  <message>
   <source>thread</source>
   <translation>Thread</translation>
  </message>
  <message>
   <source>threads</source>
   <translation>Threads</translation>
  </message>
  <message>
   <source>token</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>{name} (in use)</source>
   <translation>{name} (in Gebrauch)</translation>
  </message>
  <message>
   <source>{name} is deleted.</source>
   <translation>{name} ist gelöscht.</translation>
  </message>
  <message numerus="yes">
   <source>{n} of your presets could not be read and were left out.</source>
   <comment>one: One of your presets could not be read and was left out.</comment>
   <translation>
    <numerusform>Eine Ihrer Voreinstellungen war nicht lesbar und fehlt.</numerusform>
    <numerusform>{n} Ihrer Voreinstellungen waren nicht lesbar und fehlen.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <source>{n} settings differ from the defaults.</source>
   <comment>one: {n} setting differs from the defaults.</comment>
   <translation>
    <numerusform>{n} Einstellung weicht von den Vorgaben ab.</numerusform>
    <numerusform>{n} Einstellungen weichen von den Vorgaben ab.</numerusform>
   </translation>
  </message>
  <message>
   <source>{title} {problem}.</source>
   <translation>{title} {problem}.</translation>
  </message>
  <message>
   <source>{title}: automatic</source>
   <translation>{title}: automatisch</translation>
  </message>
 </context>
</TS>
