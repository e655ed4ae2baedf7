<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>wizard</name>
  <message>
   <source>1 compute thread</source>
   <translation>1 Rechen-Thread</translation>
  </message>
  <message>
   <source>1 early read</source>
   <translation>1 frühes Lesen</translation>
  </message>
  <message>
   <source>1 layer on the graphics cards</source>
   <translation>1 Schicht auf den Grafikkarten</translation>
  </message>
  <message>
   <source>1 read thread</source>
   <translation>1 Lese-Thread</translation>
  </message>
  <message>
   <source>At most {rate}</source>
   <translation>Höchstens {rate}</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>Bandwidth</source>
   <translation>Speichertempo</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Candidates</source>
   <translation>Kandidaten</translation>
  </message>
  <message>
   <source>Candidates: short answers with each, in turns, the defaults always among them.</source>
   <translation>Kandidaten: kurze Antworten mit jedem, abwechselnd, die Vorgaben immer darunter.</translation>
  </message>
  <message>
   <source>Compute</source>
   <translation>Rechnen</translation>
  </message>
  <message>
   <source>Computing the prompts to measure with</source>
   <translation>Die Prompts zum Messen werden gerechnet</translation>
  </message>
  <message>
   <source>Cores</source>
   <translation>Kerne</translation>
  </message>
  <message>
   <source>Defaults</source>
   <translation>Vorgaben</translation>
  </message>
  <message>
   <source>Drive</source>
   <translation>Laufwerk</translation>
  </message>
  <message>
   <source>Drive rate by queue depth</source>
   <translation>Laufwerksrate nach Zahl gleichzeitiger Zugriffe</translation>
  </message>
  <message>
   <source>Drive: {rate} GB/s at queue depth {n}</source>
   <translation>Laufwerk: {rate} GB/s bei {n} Zugriffen zugleich</translation>
  </message>
  <message>
   <source>Expert compute</source>
   <translation>Rechnen der Experten</translation>
  </message>
  <message>
   <source>Gannet measures the drive, the memory and the processor, then tries settings on the model itself, side by side with what you use now. It keeps what is faster and says why. Answers stay the same.</source>
   <translation>Gannet misst Laufwerk, Speicher und Prozessor und probiert dann Einstellungen am Modell selbst aus, Seite an Seite mit dem, was Sie jetzt benutzen. Es behält, was schneller ist, und sagt warum. Die Antworten bleiben dieselben.</translation>
  </message>
  <message>
   <source>Gannet's version</source>
   <translation>die Version von Gannet</translation>
  </message>
  <message>
   <source>Gpus</source>
   <translation>Grafik</translation>
  </message>
  <message>
   <source>Graphics cards</source>
   <translation>Grafikkarten</translation>
  </message>
  <message>
   <source>Keep my settings</source>
   <translation>Meine Einstellungen behalten</translation>
  </message>
  <message>
   <source>Kind of drive</source>
   <translation>Art des Laufwerks</translation>
  </message>
  <message>
   <source>Load a model first: it is measured itself, not a stand-in.</source>
   <translation>Laden Sie zuerst ein Modell: Es wird selbst gemessen, kein Stellvertreter.</translation>
  </message>
  <message>
   <source>Loading the model</source>
   <translation>Das Modell wird geladen</translation>
  </message>
  <message>
   <source>Measure again</source>
   <translation>Neu messen</translation>
  </message>
  <message>
   <source>Measure now</source>
   <translation>Jetzt messen</translation>
  </message>
  <message>
   <source>Measure this computer with your model</source>
   <translation>Diesen Rechner mit Ihrem Modell messen</translation>
  </message>
  <message>
   <source>Measured here before, but it no longer holds. Changed since: {changes}. Measure again.</source>
   <translation>Hier schon gemessen, gilt aber nicht mehr. Geändert hat sich: {changes}. Messen Sie neu.</translation>
  </message>
  <message>
   <source>Measured here before: {speed}. These settings are not in use.</source>
   <translation>Hier schon gemessen: {speed}. Diese Einstellungen werden nicht benutzt.</translation>
  </message>
  <message>
   <source>Measured: {speed} tokens a second.</source>
   <translation>Gemessen: {speed} Token pro Sekunde.</translation>
  </message>
  <message>
   <source>Measuring a whole turn: {what}</source>
   <translation>Eine ganze Runde wird gemessen: {what}</translation>
  </message>
  <message>
   <source>Measuring did not finish</source>
   <translation>Die Messung wurde nicht fertig</translation>
  </message>
  <message>
   <source>Measuring was cancelled. Your settings are unchanged.</source>
   <translation>Die Messung wurde abgebrochen. Ihre Einstellungen sind unverändert.</translation>
  </message>
  <message>
   <source>Measuring with {n} MiB for experts</source>
   <translation>Wird mit {n} MiB für Experten gemessen</translation>
  </message>
  <message>
   <source>Measuring {what}</source>
   <translation>Wird gemessen: {what}</translation>
  </message>
  <message>
   <source>Measuring: {what}</source>
   <translation>Wird gemessen: {what}</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>Memory and processor: how fast they get through this model's weights.</source>
   <translation>Speicher und Prozessor: wie schnell sie durch die Gewichte dieses Modells kommen.</translation>
  </message>
  <message>
   <source>Memory bandwidth</source>
   <translation>Tempo des Speichers</translation>
  </message>
  <message>
   <source>No candidate finished ({what} failed or came to nothing), so the settings stay as they were.</source>
   <translation>Kein Kandidat kam ans Ende (gescheitert: {what}), darum bleiben die Einstellungen, wie sie waren.</translation>
  </message>
  <message>
   <source>Nothing was reliably faster: the best candidate, {what}, reached {n} times the speed ({low} to {high}), so the settings stay as they were.</source>
   <translation>Nichts war verlässlich schneller: der beste Kandidat, {what}, erreichte das {n}-Fache ({low} bis {high}), darum bleiben die Einstellungen, wie sie waren.</translation>
  </message>
  <message>
   <source>Processor</source>
   <translation>Prozessor</translation>
  </message>
  <message>
   <source>Progress of measuring</source>
   <translation>Fortschritt der Messung</translation>
  </message>
  <message>
   <source>Speed of every candidate</source>
   <translation>Geschwindigkeit jedes Kandidaten</translation>
  </message>
  <message>
   <source>Starting…</source>
   <translation>Beginnt …</translation>
  </message>
  <message>
   <source>Stop using the old settings</source>
   <translation>Alte Einstellungen nicht mehr benutzen</translation>
  </message>
  <message>
   <source>The built-in settings are in use again.</source>
   <translation>Die mitgelieferten Einstellungen gelten wieder.</translation>
  </message>
  <message>
   <source>The defaults are the best here</source>
   <translation>Die Vorgaben sind hier am besten</translation>
  </message>
  <message>
   <source>The drive: how fast it reads experts, more and more at once. It is only read, never written.</source>
   <translation>Das Laufwerk: wie schnell es Experten liest, immer mehr auf einmal. Es wird nur gelesen, nie beschrieben.</translation>
  </message>
  <message>
   <source>The drive: reads at once, and what it delivers</source>
   <translation>Das Laufwerk: gleichzeitige Zugriffe und was es liefert</translation>
  </message>
  <message>
   <source>The engine stopped while it was measured. Your settings are unchanged.</source>
   <translation>Die Engine blieb während der Messung stehen. Ihre Einstellungen sind unverändert.</translation>
  </message>
  <message>
   <source>The measured settings are in use.</source>
   <translation>Die gemessenen Einstellungen sind in Gebrauch.</translation>
  </message>
  <message>
   <source>The model is still loading.</source>
   <translation>Das Modell lädt noch.</translation>
  </message>
  <message>
   <source>The settings in use were measured here: {speed}.</source>
   <translation>Die benutzten Einstellungen wurden hier gemessen: {speed}.</translation>
  </message>
  <message>
   <source>The settings measured for {model} no longer fit this computer. Changed since: {changes}.</source>
   <translation>Die für {model} gemessenen Einstellungen passen nicht mehr zu diesem Rechner. Geändert hat sich: {changes}.</translation>
  </message>
  <message>
   <source>The time was too short to be sure: {what} looked {n} times as fast in 1 comparison, so the settings stay as they were.</source>
   <translation>Die Zeit war zu kurz für ein sicheres Ergebnis: {what} schien in 1 Vergleich {n}-mal so schnell, darum bleiben die Einstellungen, wie sie waren.</translation>
  </message>
  <message>
   <source>The time was too short to be sure: {what} looked {n} times as fast in {m} comparisons, so the settings stay as they were.</source>
   <translation>Die Zeit war zu kurz für ein sicheres Ergebnis: {what} schien in {m} Vergleichen {n}-mal so schnell, darum bleiben die Einstellungen, wie sie waren.</translation>
  </message>
  <message>
   <source>The time was too short to load the model and to measure it, so the settings stay as they were.</source>
   <translation>Die Zeit war zu kurz, um das Modell zu laden und zu messen; die Einstellungen bleiben, wie sie waren.</translation>
  </message>
  <message>
   <source>The tuning was cancelled; the settings stay as they were.</source>
   <translation>Die Abstimmung wurde abgebrochen; die Einstellungen bleiben, wie sie waren.</translation>
  </message>
  <message>
   <source>There was nothing to compare, so the settings stay as they were.</source>
   <translation>Es gab nichts zu vergleichen, darum bleiben die Einstellungen, wie sie waren.</translation>
  </message>
  <message>
   <source>This takes</source>
   <translation>Das dauert</translation>
  </message>
  <message>
   <source>Time to take</source>
   <translation>Dauer</translation>
  </message>
  <message>
   <source>Use them</source>
   <translation>Benutzen</translation>
  </message>
  <message>
   <source>Use these settings</source>
   <translation>Diese Einstellungen verwenden</translation>
  </message>
  <message>
   <source>Volume</source>
   <translation>Art des Laufwerks</translation>
  </message>
  <message>
   <source>Your settings are unchanged.</source>
   <translation>Ihre Einstellungen sind unverändert.</translation>
  </message>
  <message>
   <source>about {time}</source>
   <translation>etwa {time}</translation>
  </message>
  <message>
   <source>about {time} left</source>
   <translation>noch etwa {time}</translation>
  </message>
  <message>
   <source>answers are computed on the processor: graphics cards are measured and not used</source>
   <translation>Antworten rechnet der Prozessor: Grafikkarten werden gemessen und nicht benutzt</translation>
  </message>
  <message>
   <source>automatic cache</source>
   <translation>automatischer Cache</translation>
  </message>
  <message>
   <source>automatic compute threads</source>
   <translation>automatische Rechen-Threads</translation>
  </message>
  <message>
   <source>automatic early reads</source>
   <translation>automatische frühe Lesezugriffe</translation>
  </message>
  <message>
   <source>automatic lookahead width</source>
   <translation>automatische Breite der Vorausschau</translation>
  </message>
  <message>
   <source>automatic read threads</source>
   <translation>automatische Lese-Threads</translation>
  </message>
  <message>
   <source>automatic read-ahead bar</source>
   <translation>automatische Schwelle</translation>
  </message>
  <message>
   <source>being measured</source>
   <translation>wird gemessen</translation>
  </message>
  <message>
   <source>cache of {n} MiB</source>
   <translation>Cache mit {n} MiB</translation>
  </message>
  <message>
   <source>computing a prompt takes long here: only {n} of 3 are used</source>
   <translation>ein Prompt braucht hier lange: nur {n} von 3 werden genommen</translation>
  </message>
  <message>
   <source>computing a prompt takes long here: short ones are used</source>
   <translation>ein Prompt braucht hier lange: es werden kurze genommen</translation>
  </message>
  <message>
   <source>it crashed</source>
   <translation>abgestürzt</translation>
  </message>
  <message>
   <source>llama.cpp's version</source>
   <translation>die Version von llama.cpp</translation>
  </message>
  <message>
   <source>lookahead width {n}</source>
   <translation>Breite der Vorausschau {n}</translation>
  </message>
  <message>
   <source>lookahead {n}</source>
   <translation>Vorausschau {n}</translation>
  </message>
  <message>
   <source>measured to the end</source>
   <translation>zu Ende gemessen</translation>
  </message>
  <message>
   <source>no time was left for it</source>
   <translation>dafür war keine Zeit mehr</translation>
  </message>
  <message>
   <source>no time was left to measure this: {what}</source>
   <translation>dafür war keine Zeit mehr: {what}</translation>
  </message>
  <message>
   <source>not measured yet</source>
   <translation>noch nicht gemessen</translation>
  </message>
  <message>
   <source>other answers, not used</source>
   <translation>andere Antworten, nicht verwendet</translation>
  </message>
  <message>
   <source>prompt batch {n}</source>
   <translation>Prompt-Stapel {n}</translation>
  </message>
  <message>
   <source>read-ahead bar {n}</source>
   <translation>Schwelle {n}</translation>
  </message>
  <message>
   <source>slower, dropped</source>
   <translation>langsamer, ausgeschieden</translation>
  </message>
  <message>
   <source>the amount of memory</source>
   <translation>die Größe des Speichers</translation>
  </message>
  <message>
   <source>the best one</source>
   <translation>der beste</translation>
  </message>
  <message>
   <source>the drive that holds the model</source>
   <translation>das Laufwerk mit dem Modell</translation>
  </message>
  <message>
   <source>the form of the stored result</source>
   <translation>die Form des gespeicherten Ergebnisses</translation>
  </message>
  <message>
   <source>the graphics cards</source>
   <translation>die Grafikkarten</translation>
  </message>
  <message>
   <source>the graphics driver</source>
   <translation>der Grafiktreiber</translation>
  </message>
  <message>
   <source>the memory limit</source>
   <translation>die Speichergrenze</translation>
  </message>
  <message>
   <source>the model</source>
   <translation>das Modell</translation>
  </message>
  <message>
   <source>the model's file</source>
   <translation>die Datei des Modells</translation>
  </message>
  <message>
   <source>the model's weights</source>
   <translation>die Gewichte des Modells</translation>
  </message>
  <message>
   <source>the number of usable cores</source>
   <translation>die Zahl der nutzbaren Kerne</translation>
  </message>
  <message>
   <source>the operating system</source>
   <translation>das Betriebssystem</translation>
  </message>
  <message>
   <source>the processor</source>
   <translation>der Prozessor</translation>
  </message>
  <message>
   <source>there was no time to compare settings that need a new load</source>
   <translation>für Einstellungen, die neues Laden brauchen, war keine Zeit</translation>
  </message>
  <message>
   <source>tok/s</source>
   <translation>Tok/s</translation>
  </message>
  <message>
   <source>{model} is answering. Measuring can begin when the answer is finished.</source>
   <translation>{model} antwortet gerade. Die Messung kann beginnen, wenn die Antwort fertig ist.</translation>
  </message>
  <message>
   <source>{model} is loaded and will be measured.</source>
   <translation>{model} ist geladen und wird gemessen.</translation>
  </message>
  <message>
   <source>{name}: {speed} tok/s, {state}</source>
   <translation>{name}: {speed} Tok/s, {state}</translation>
  </message>
  <message>
   <source>{n} % faster than the defaults</source>
   <translation>{n} % schneller als die Vorgaben</translation>
  </message>
  <message>
   <source>{n} MiB of experts in VRAM</source>
   <translation>{n} MiB Experten im VRAM</translation>
  </message>
  <message>
   <source>{n} candidates, {m} tokens a run</source>
   <translation>{n} Kandidaten, {m} Token je Lauf</translation>
  </message>
  <message>
   <source>{n} compute threads</source>
   <translation>{n} Rechen-Threads</translation>
  </message>
  <message>
   <source>{n} early reads</source>
   <translation>{n} frühe Lesezugriffe</translation>
  </message>
  <message>
   <source>{n} layers on the graphics cards</source>
   <translation>{n} Schichten auf den Grafikkarten</translation>
  </message>
  <message>
   <source>{n} read threads</source>
   <translation>{n} Lese-Threads</translation>
  </message>
  <message>
   <source>{n} tok/s</source>
   <translation>{n} Tok/s</translation>
  </message>
  <message>
   <source>{what} (was {was}, is {now})</source>
   <translation>{what} (war {was}, ist {now})</translation>
  </message>
  <message>
   <source>{what} answers {n} times as fast as the settings before (at least {low} with 95 % confidence), because it spends less time on computing and waiting for threads.</source>
   <translation>{what}: antwortet {n}-mal so schnell wie die Einstellungen vorher (mit 95 % Sicherheit mindestens {low}), weil Rechnen und Warten auf Threads weniger Zeit kosten.</translation>
  </message>
  <message>
   <source>{what} answers {n} times as fast as the settings before (at least {low} with 95 % confidence), because it waits {ms} ms less per token for the drive.</source>
   <translation>{what}: antwortet {n}-mal so schnell wie die Einstellungen vorher (mit 95 % Sicherheit mindestens {low}), weil je Token {ms} ms weniger auf das Laufwerk gewartet wird.</translation>
  </message>
  <message>
   <source>{what} answers {n} times as fast as the settings before (at least {low} with 95 % confidence).</source>
   <translation>{what}: antwortet {n}-mal so schnell wie die Einstellungen vorher (mit 95 % Sicherheit mindestens {low}).</translation>
  </message>
 </context>
</TS>
