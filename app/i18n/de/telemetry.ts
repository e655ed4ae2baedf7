<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>telemetry</name>
  <message>
   <source>%</source>
   <translation>%</translation>
  </message>
  <message>
   <source>Arrived late</source>
   <translation>Zu spät da</translation>
  </message>
  <message>
   <source>Ask something, and this bar shows where the time goes.</source>
   <translation>Fragen Sie etwas, dann zeigt dieser Balken, wo die Zeit bleibt.</translation>
  </message>
  <message>
   <source>Attention and dense</source>
   <translation>Attention und Dichtes</translation>
  </message>
  <message>
   <source>By number</source>
   <translation>Nach Nummer</translation>
  </message>
  <message>
   <source>By popularity</source>
   <translation>Nach Beliebtheit</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Choosing the next token.</source>
   <translation>Das nächste Token wird gewählt.</translation>
  </message>
  <message>
   <source>Computing with the experts the router picked.</source>
   <translation>Rechnen mit den Experten, die der Router gewählt hat.</translation>
  </message>
  <message>
   <source>Conversation</source>
   <translation>Gespräch</translation>
  </message>
  <message>
   <source>Copy as an image</source>
   <translation>Als Bild kopieren</translation>
  </message>
  <message>
   <source>Expert cache</source>
   <translation>Experten-Cache</translation>
  </message>
  <message>
   <source>Expert cache {size}.</source>
   <translation>Experten-Cache {size}.</translation>
  </message>
  <message>
   <source>Expert cache {size}: about {range} of the experts found in memory.</source>
   <translation>Experten-Cache {size}: etwa {range} der Experten im Speicher gefunden.</translation>
  </message>
  <message>
   <source>Experts</source>
   <translation>Experten</translation>
  </message>
  <message>
   <source>Experts kept in memory. Drag its end to change its size.</source>
   <translation>Experten, die im Speicher bleiben. Ziehen Sie am Ende, um die Größe zu ändern.</translation>
  </message>
  <message>
   <source>Experts that had to be read from the SSD while the answer waited.</source>
   <translation>Experten, die von der SSD gelesen werden mussten, während die Antwort wartete.</translation>
  </message>
  <message>
   <source>Experts that were already in memory when a layer needed them.</source>
   <translation>Experten, die schon im Speicher waren, als eine Schicht sie brauchte.</translation>
  </message>
  <message>
   <source>Experts that were on their way from the SSD when they were needed.</source>
   <translation>Experten, die noch von der SSD unterwegs waren, als sie gebraucht wurden.</translation>
  </message>
  <message>
   <source>Figures appear as soon as it is there.</source>
   <translation>Zahlen erscheinen, sobald es da ist.</translation>
  </message>
  <message>
   <source>Figures go on when the model is back.</source>
   <translation>Die Werte laufen weiter, wenn das Modell zurück ist.</translation>
  </message>
  <message>
   <source>First token after</source>
   <translation>Erstes Token nach</translation>
  </message>
  <message>
   <source>Found in memory</source>
   <translation>Im Speicher gefunden</translation>
  </message>
  <message>
   <source>Free</source>
   <translation>Frei</translation>
  </message>
  <message>
   <source>Go on</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <source>Gold: found in memory. Blue: arrived late, read ahead but not in time. Red: missed, read while the answer waited.</source>
   <translation>Gold: im Speicher gefunden. Blau: zu spät, vorausgelesen, aber nicht rechtzeitig. Rot: verfehlt, gelesen, während die Antwort wartete.</translation>
  </message>
  <message>
   <source>Guessing which experts come next, to read them early.</source>
   <translation>Raten, welche Experten als Nächste kommen, um sie früh zu lesen.</translation>
  </message>
  <message>
   <source>Heat map of the experts</source>
   <translation>Wärmekarte der Experten</translation>
  </message>
  <message>
   <source>In memory now</source>
   <translation>Jetzt im Speicher</translation>
  </message>
  <message>
   <source>Last used by token {n}</source>
   <translation>Zuletzt von Token {n} benutzt</translation>
  </message>
  <message>
   <source>Layer {layer}, expert {expert}</source>
   <translation>Schicht {layer}, Experte {expert}</translation>
  </message>
  <message>
   <source>Load one, ask something, and see here where the time goes.</source>
   <translation>Laden Sie eines, fragen Sie etwas und sehen Sie hier, wo die Zeit bleibt.</translation>
  </message>
  <message>
   <source>Load the model</source>
   <translation>Modell laden</translation>
  </message>
  <message>
   <source>Loading the model</source>
   <translation>Das Modell wird geladen</translation>
  </message>
  <message>
   <source>MB/s</source>
   <translation>MB/s</translation>
  </message>
  <message>
   <source>Made larger because memory is free.</source>
   <translation>Vergrößert, weil Speicher frei ist.</translation>
  </message>
  <message>
   <source>Made smaller because other programs need memory; up to {most} when they no longer do.</source>
   <translation>Verkleinert, weil andere Programme Speicher brauchen; bis zu {most}, wenn sie ihn nicht mehr brauchen.</translation>
  </message>
  <message>
   <source>Measuring settings</source>
   <translation>Einstellungen werden gemessen</translation>
  </message>
  <message>
   <source>Memory of this computer</source>
   <translation>Speicher dieses Rechners</translation>
  </message>
  <message>
   <source>Memory that other programs and the system use.</source>
   <translation>Speicher, den andere Programme und das System benutzen.</translation>
  </message>
  <message>
   <source>Missed</source>
   <translation>Verfehlt</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>Kein Modell geladen</translation>
  </message>
  <message>
   <source>Not used by anybody.</source>
   <translation>Von niemandem benutzt.</translation>
  </message>
  <message>
   <source>Not used yet</source>
   <translation>Noch nicht benutzt</translation>
  </message>
  <message>
   <source>Nothing to compute until a read arrives.</source>
   <translation>Nichts zu rechnen, bis etwas gelesen ist.</translation>
  </message>
  <message>
   <source>Nothing to measure</source>
   <translation>Nichts zu messen</translation>
  </message>
  <message>
   <source>On the SSD</source>
   <translation>Auf der SSD</translation>
  </message>
  <message>
   <source>Order of the experts</source>
   <translation>Reihenfolge der Experten</translation>
  </message>
  <message>
   <source>Other programs</source>
   <translation>Andere Programme</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Prediction</source>
   <translation>Vorhersage</translation>
  </message>
  <message>
   <source>Prompt tokens per second before the answer begins.</source>
   <translation>Prompt-Token pro Sekunde, bevor die Antwort beginnt.</translation>
  </message>
  <message>
   <source>Read ahead: {useful} % in time, {late} % late, {wasted} % not needed.</source>
   <translation>Vorausgelesen: {useful} % rechtzeitig, {late} % zu spät, {wasted} % nicht gebraucht.</translation>
  </message>
  <message>
   <source>Read queue</source>
   <translation>Leseschlange</translation>
  </message>
  <message>
   <source>Read rate</source>
   <translation>Leserate</translation>
  </message>
  <message>
   <source>Reading the prompt</source>
   <translation>Lesen des Prompts</translation>
  </message>
  <message>
   <source>Reads asked for and not finished, needed now and read ahead.</source>
   <translation>Verlangte und nicht beendete Lesevorgänge, jetzt gebrauchte und vorausgelesene.</translation>
  </message>
  <message>
   <source>Record telemetry</source>
   <translation>Telemetrie aufzeichnen</translation>
  </message>
  <message>
   <source>Record to a CSV file</source>
   <translation>In eine CSV-Datei aufzeichnen</translation>
  </message>
  <message>
   <source>Restart the engine</source>
   <translation>Engine neu starten</translation>
  </message>
  <message>
   <source>Sampling</source>
   <translation>Auswahl</translation>
  </message>
  <message>
   <source>Show</source>
   <translation>Zeigen</translation>
  </message>
  <message>
   <source>Size of the expert cache, arrow keys change it</source>
   <translation>Größe des Experten-Caches, Pfeiltasten ändern sie</translation>
  </message>
  <message>
   <source>Speed</source>
   <translation>Tempo</translation>
  </message>
  <message>
   <source>Stop recording</source>
   <translation>Aufzeichnung beenden</translation>
  </message>
  <message>
   <source>Tables (*.csv)</source>
   <translation>Tabellen (*.csv)</translation>
  </message>
  <message>
   <source>Telemetry</source>
   <translation>Telemetrie</translation>
  </message>
  <message>
   <source>The engine stopped unexpectedly.</source>
   <translation>Die Engine ist unerwartet stehen geblieben.</translation>
  </message>
  <message>
   <source>The expert cache is {size} now.</source>
   <translation>Der Experten-Cache ist jetzt {size} groß.</translation>
  </message>
  <message>
   <source>The picture is on the clipboard.</source>
   <translation>Das Bild ist in der Zwischenablage.</translation>
  </message>
  <message>
   <source>The recording cannot be written: {problem}</source>
   <translation>Die Aufzeichnung kann nicht geschrieben werden: {problem}</translation>
  </message>
  <message>
   <source>The recording stopped: the drive is full or gone.</source>
   <translation>Die Aufzeichnung endete: Das Laufwerk ist voll oder weg.</translation>
  </message>
  <message>
   <source>This model has no experts to show: all of it works for every token.</source>
   <translation>Dieses Modell hat keine Experten: Alles arbeitet für jedes Token.</translation>
  </message>
  <message>
   <source>This size was asked for.</source>
   <translation>Diese Größe wurde gewünscht.</translation>
  </message>
  <message>
   <source>Time each token waited for the SSD.</source>
   <translation>Zeit, die jedes Token auf die SSD wartete.</translation>
  </message>
  <message>
   <source>Time from the last question to its first token.</source>
   <translation>Zeit von der letzten Frage bis zu ihrem ersten Token.</translation>
  </message>
  <message>
   <source>Tokens written per second while an answer is being written.</source>
   <translation>Geschriebene Token pro Sekunde, solange eine Antwort entsteht.</translation>
  </message>
  <message>
   <source>Unchanged since the model was loaded.</source>
   <translation>Unverändert, seit das Modell geladen wurde.</translation>
  </message>
  <message>
   <source>Used {n} times, {share} % of its layer</source>
   <translation>{n}-mal benutzt, {share} % seiner Schicht</translation>
  </message>
  <message>
   <source>Waiting for the SSD</source>
   <translation>Warten auf die SSD</translation>
  </message>
  <message>
   <source>Waiting per token</source>
   <translation>Warten je Token</translation>
  </message>
  <message>
   <source>Weights that work for every token, always in memory.</source>
   <translation>Gewichte, die für jedes Token arbeiten, immer im Speicher.</translation>
  </message>
  <message>
   <source>Weights that work for every token.</source>
   <translation>Gewichte, die für jedes Token arbeiten.</translation>
  </message>
  <message>
   <source>What is being read from the SSD; reading is all Gannet does there.</source>
   <translation>Was von der SSD gelesen wird; mehr als lesen tut Gannet dort nicht.</translation>
  </message>
  <message>
   <source>What the model remembers of the conversation (KV cache).</source>
   <translation>Was das Modell vom Gespräch behält (KV-Cache).</translation>
  </message>
  <message>
   <source>Where a token's time goes</source>
   <translation>Wo die Zeit eines Tokens bleibt</translation>
  </message>
  <message>
   <source>golden</source>
   <translation>goldfarben</translation>
  </message>
  <message>
   <source>ms</source>
   <translation>ms</translation>
  </message>
  <message>
   <source>outlined</source>
   <translation>umrandet</translation>
  </message>
  <message>
   <source>reads</source>
   <translation>Zugriffe</translation>
  </message>
  <message>
   <source>s</source>
   <translation>s</translation>
  </message>
  <message>
   <source>tok/s</source>
   <translation>Tok/s</translation>
  </message>
  <message>
   <source>{layers} layers down, {experts} experts across. A stronger colour is used more; {share} % are in memory, {mark}.</source>
   <translation>{layers} Schichten untereinander, {experts} Experten nebeneinander. Je kräftiger, desto öfter benutzt; {share} % sind im Speicher, {mark}.</translation>
  </message>
  <message>
   <source>{ms} ms for a token, over the last seconds</source>
   <translation>{ms} ms je Token in den letzten Sekunden</translation>
  </message>
  <message>
   <source>{ms} ms, {share} %</source>
   <translation>{ms} ms, {share} %</translation>
  </message>
  <message>
   <source>{n} rows are in {name}.</source>
   <translation>{n} Zeilen stehen in {name}.</translation>
  </message>
 </context>
</TS>
