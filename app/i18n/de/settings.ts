<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>settings</name>
  <message>
   <source>A diagnostics file holds logs, settings and facts about this computer, and nothing of your conversations. You decide whom to give it.</source>
   <translation>Eine Diagnosedatei enthält Protokolle, Einstellungen und Angaben über diesen Rechner, aber nichts aus Ihren Gesprächen. Sie entscheiden, wer sie bekommt.</translation>
  </message>
  <message>
   <source>About</source>
   <translation>Über</translation>
  </message>
  <message>
   <source>Add a folder with models</source>
   <translation>Einen Ordner mit Modellen hinzufügen</translation>
  </message>
  <message>
   <source>Add folder…</source>
   <translation>Ordner hinzufügen …</translation>
  </message>
  <message>
   <source>Conversations</source>
   <translation>Gespräche</translation>
  </message>
  <message>
   <source>Folders with models</source>
   <translation>Ordner mit Modellen</translation>
  </message>
  <message>
   <source>Gannet {version}</source>
   <translation>Gannet {version}</translation>
  </message>
  <message>
   <source>Keyboard shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <source>On</source>
   <translation>An</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>Voreinstellungen</translation>
  </message>
  <message>
   <source>Private: nothing leaves this computer but the downloads you ask for.</source>
   <translation>Privat: Nichts verlässt diesen Rechner außer den Downloads, die Sie verlangen.</translation>
  </message>
  <message>
   <source>Remove {folder} from the library</source>
   <translation>{folder} aus der Bibliothek nehmen</translation>
  </message>
  <message>
   <source>Runs mixture-of-experts models that are larger than memory: the weights every token needs stay in memory, the others are read from the SSD just before they are needed.</source>
   <translation>Führt Mixture-of-Experts-Modelle aus, die größer sind als der Speicher: Was jedes Token braucht, bleibt im Speicher, das andere wird von der SSD gelesen, kurz bevor es gebraucht wird.</translation>
  </message>
  <message>
   <source>Save diagnostics…</source>
   <translation>Diagnose speichern …</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Settings and presets</source>
   <translation>Einstellungen und Voreinstellungen</translation>
  </message>
  <message>
   <source>Show</source>
   <translation>Zeigen</translation>
  </message>
  <message>
   <source>Show the folder {name}</source>
   <translation>Den Ordner {name} zeigen</translation>
  </message>
  <message>
   <source>System</source>
   <translation>System</translation>
  </message>
  <message>
   <source>Tuning</source>
   <translation>Abstimmen</translation>
  </message>
  <message>
   <source>When something goes wrong</source>
   <translation>Wenn etwas schiefgeht</translation>
  </message>
  <message>
   <source>Window</source>
   <translation>Fenster</translation>
  </message>
  <message>
   <source>{folder} (not connected)</source>
   <translation>{folder} (nicht angeschlossen)</translation>
  </message>
 </context>
</TS>
