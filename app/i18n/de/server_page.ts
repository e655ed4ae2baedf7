<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>server_page</name>
  <message>
   <source>Anybody in this network who has the key can use the engine; what they send is not encrypted.</source>
   <translation>Jeder in diesem Netz, der den Schlüssel hat, kann die Engine benutzen; was er sendet, ist nicht verschlüsselt.</translation>
  </message>
  <message>
   <source>Coding agents</source>
   <translation>Programmieragenten</translation>
  </message>
  <message>
   <source>Copied: {what}</source>
   <translation>Kopiert: {what}</translation>
  </message>
  <message>
   <source>Copy the key</source>
   <translation>Schlüssel kopieren</translation>
  </message>
  <message>
   <source>Copy these settings</source>
   <translation>Diese Einstellungen kopieren</translation>
  </message>
  <message>
   <source>Editor plug-ins</source>
   <translation>Editor-Erweiterungen</translation>
  </message>
  <message>
   <source>Every request needs it, as a bearer token. Keep it like a password.</source>
   <translation>Jede Anfrage braucht ihn, als Bearer-Token. Hüten Sie ihn wie ein Passwort.</translation>
  </message>
  <message>
   <source>Hide</source>
   <translation>Verbergen</translation>
  </message>
  <message>
   <source>In a program; needs the package anthropic.</source>
   <translation>In einem Programm; braucht das Paket anthropic.</translation>
  </message>
  <message>
   <source>In a program; needs the package openai.</source>
   <translation>In einem Programm; braucht das Paket openai.</translation>
  </message>
  <message>
   <source>In a terminal.</source>
   <translation>In einem Terminal.</translation>
  </message>
  <message>
   <source>In the plug-in's settings, as a model of the kind OpenAI.</source>
   <translation>In den Einstellungen der Erweiterung, als Modell der Art OpenAI.</translation>
  </message>
  <message>
   <source>In the terminal before you start the agent.</source>
   <translation>Im Terminal, bevor Sie den Agenten starten.</translation>
  </message>
  <message>
   <source>Key</source>
   <translation>Schlüssel</translation>
  </message>
  <message>
   <source>Latest requests</source>
   <translation>Letzte Anfragen</translation>
  </message>
  <message>
   <source>Let other programs use the engine</source>
   <translation>Andere Programme dürfen die Engine benutzen</translation>
  </message>
  <message>
   <source>New key…</source>
   <translation>Neuer Schlüssel …</translation>
  </message>
  <message>
   <source>Nobody at the moment. Programs appear here when they ask something.</source>
   <translation>Im Moment niemand. Programme erscheinen hier, wenn sie etwas fragen.</translation>
  </message>
  <message>
   <source>Nobody gets in: {why}. Choose another port.</source>
   <translation>Niemand kommt herein: {why}. Wählen Sie einen anderen Port.</translation>
  </message>
  <message>
   <source>Off: only this window can use the engine.</source>
   <translation>Aus: Nur dieses Fenster kann die Engine benutzen.</translation>
  </message>
  <message>
   <source>On: programs on this computer use {address}</source>
   <translation>An: Programme auf diesem Rechner benutzen {address}</translation>
  </message>
  <message>
   <source>Opening…</source>
   <translation>Wird geöffnet …</translation>
  </message>
  <message>
   <source>Other computers in this network too</source>
   <translation>Auch andere Rechner in diesem Netz</translation>
  </message>
  <message>
   <source>Port</source>
   <translation>Port</translation>
  </message>
  <message>
   <source>Program</source>
   <translation>Programm</translation>
  </message>
  <message>
   <source>Python, Anthropic</source>
   <translation>Python, Anthropic</translation>
  </message>
  <message>
   <source>Python, OpenAI</source>
   <translation>Python, OpenAI</translation>
  </message>
  <message>
   <source>Server</source>
   <translation>Server</translation>
  </message>
  <message>
   <source>Settings for</source>
   <translation>Einstellungen für</translation>
  </message>
  <message>
   <source>Settings to copy</source>
   <translation>Einstellungen zum Kopieren</translation>
  </message>
  <message>
   <source>Show</source>
   <translation>Zeigen</translation>
  </message>
  <message>
   <source>The engine is not running. Other programs get in as soon as it does.</source>
   <translation>Die Engine läuft nicht. Andere Programme kommen herein, sobald sie läuft.</translation>
  </message>
  <message>
   <source>There is a new key. Programs that have the old one no longer get in.</source>
   <translation>Es gibt einen neuen Schlüssel. Programme mit dem alten kommen nicht mehr hinein.</translation>
  </message>
  <message>
   <source>Who is connected</source>
   <translation>Wer ist verbunden</translation>
  </message>
  <message>
   <source>curl</source>
   <translation>curl</translation>
  </message>
  <message>
   <source>runs</source>
   <translation>läuft</translation>
  </message>
  <message>
   <source>the key</source>
   <translation>der Schlüssel</translation>
  </message>
  <message>
   <source>the settings</source>
   <translation>die Einstellungen</translation>
  </message>
  <message>
   <source>{client} from {address}, {requests}</source>
   <translation>{client} von {address}, {requests}</translation>
  </message>
  <message numerus="yes">
   <source>{n} requests</source>
   <comment>one: {n} request</comment>
   <translation>
    <numerusform>{n} Anfrage</numerusform>
    <numerusform>{n} Anfragen</numerusform>
   </translation>
  </message>
 </context>
</TS>
