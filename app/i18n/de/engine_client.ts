<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>engine_client</name>
  <message>
   <source>A file the engine was reading changed or became unreadable.</source>
   <translation>Eine Datei, die die Engine las, hat sich geändert oder wurde unlesbar.</translation>
  </message>
  <message>
   <source>Another program ended the engine.</source>
   <translation>Ein anderes Programm hat die Engine beendet.</translation>
  </message>
  <message>
   <source>The answer broke off.</source>
   <translation>Die Antwort brach ab.</translation>
  </message>
  <message>
   <source>The answer broke off: the engine closed the connection.</source>
   <translation>Die Antwort brach ab: die Engine hat die Verbindung geschlossen.</translation>
  </message>
  <message>
   <source>The engine could not be started: {why}.</source>
   <translation>Die Engine ließ sich nicht starten: {why}.</translation>
  </message>
  <message>
   <source>The engine crashed (signal {code}). What was said so far is kept.</source>
   <translation>Die Engine ist abgestürzt (Signal {code}). Was bisher gesagt wurde, bleibt erhalten.</translation>
  </message>
  <message>
   <source>The engine did not come up within {s} seconds.</source>
   <translation>Die Engine kam nicht innerhalb von {s} Sekunden hoch.</translation>
  </message>
  <message>
   <source>The engine does not answer. Restart it from the Model menu.</source>
   <translation>Die Engine antwortet nicht. Starten Sie sie im Menü „Modell“ neu.</translation>
  </message>
  <message>
   <source>The engine ended by itself.</source>
   <translation>Die Engine hat sich von selbst beendet.</translation>
  </message>
  <message>
   <source>The engine met an instruction this processor does not have.</source>
   <translation>Die Engine traf auf einen Befehl, den dieser Prozessor nicht hat.</translation>
  </message>
  <message>
   <source>The engine refused the request (HTTP {status}).</source>
   <translation>Die Engine hat die Anfrage abgelehnt (HTTP {status}).</translation>
  </message>
  <message>
   <source>The engine sent an answer that could not be read.</source>
   <translation>Die Engine hat etwas gesendet, das nicht zu lesen ist.</translation>
  </message>
  <message>
   <source>The engine stopped with an error (exit code {code}).</source>
   <translation>Die Engine hörte mit einem Fehler auf (Code {code}).</translation>
  </message>
  <message>
   <source>The system ended the engine, most likely because memory ran out. A smaller cache needs less.</source>
   <translation>Das System hat die Engine beendet, wahrscheinlich weil der Speicher ausging. Ein kleinerer Cache braucht weniger.</translation>
  </message>
 </context>
</TS>
