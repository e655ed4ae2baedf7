<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>page_parts</name>
  <message>
   <source>.</source>
   <translation>,</translation>
  </message>
  <message>
   <source>Fast here</source>
   <translation>Schnell hier</translation>
  </message>
  <message>
   <source>Measured on this computer.</source>
   <translation>Auf diesem Rechner gemessen.</translation>
  </message>
  <message>
   <source>Slow here</source>
   <translation>Langsam hier</translation>
  </message>
  <message>
   <source>The memory that is free now is too small even for the weights every token needs.</source>
   <translation>Der freie Speicher reicht im Moment nicht einmal für die Gewichte, die jedes Token braucht.</translation>
  </message>
  <message>
   <source>Too slow here</source>
   <translation>Zu langsam hier</translation>
  </message>
  <message>
   <source>Usable here</source>
   <translation>Brauchbar hier</translation>
  </message>
  <message>
   <source>Worked out from sizes, not measured yet.</source>
   <translation>Aus Größen errechnet, noch nicht gemessen.</translation>
  </message>
  <message>
   <source>about {range} words a second</source>
   <translation>etwa {range} Wörter pro Sekunde</translation>
  </message>
  <message>
   <source>about {time} for a word</source>
   <translation>etwa {time} für ein Wort</translation>
  </message>
  <message>
   <source>needs {needed} of your {total}</source>
   <translation>braucht {needed} von Ihren {total}</translation>
  </message>
  <message>
   <source>{hours} h {minutes} min</source>
   <translation>{hours} h {minutes} min</translation>
  </message>
  <message numerus="yes">
   <source>{n} minutes</source>
   <comment>one: {n} minute</comment>
   <translation>
    <numerusform>{n} Minute</numerusform>
    <numerusform>{n} Minuten</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <source>{n} seconds</source>
   <comment>one: {n} second</comment>
   <translation>
    <numerusform>{n} Sekunde</numerusform>
    <numerusform>{n} Sekunden</numerusform>
   </translation>
  </message>
  <message>
   <source>{range} of the experts found in memory</source>
   <translation>{range} der Experten im Speicher gefunden</translation>
  </message>
  <message>
   <source>{range} tokens per second</source>
   <translation>{range} Token pro Sekunde</translation>
  </message>
  <message>
   <source>{size} for experts, {least} at the very least in all</source>
   <translation>{size} für Experten, insgesamt mindestens {least}</translation>
  </message>
 </context>
</TS>
