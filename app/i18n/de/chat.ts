<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>chat</name>
  <message>
   <source>Above 1 makes repeating the same words less likely.</source>
   <translation>Über 1 werden Wiederholungen unwahrscheinlicher.</translation>
  </message>
  <message>
   <source>An answer ends after this many tokens.</source>
   <translation>Eine Antwort endet nach so vielen Token.</translation>
  </message>
  <message>
   <source>Answer</source>
   <translation>Antwort</translation>
  </message>
  <message>
   <source>Answer now</source>
   <translation>Jetzt antworten</translation>
  </message>
  <message>
   <source>Ask anything…</source>
   <translation>Fragen Sie irgendetwas …</translation>
  </message>
  <message>
   <source>Attach text files</source>
   <translation>Textdateien anhängen</translation>
  </message>
  <message>
   <source>Built-in demo model: tiny, its cache small on purpose, so you can watch experts come from the SSD.</source>
   <translation>Eingebautes Demo-Modell: winzig, mit absichtlich kleinem Cache, damit man sieht, wie Experten von der SSD kommen.</translation>
  </message>
  <message>
   <source>Calls a tool</source>
   <translation>Ruft ein Werkzeug auf</translation>
  </message>
  <message>
   <source>Calls the tool {name}</source>
   <translation>Ruft das Werkzeug {name} auf</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Code, {language}</source>
   <translation>Code, {language}</translation>
  </message>
  <message>
   <source>Continue</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <source>Copy this code</source>
   <translation>Diesen Code kopieren</translation>
  </message>
  <message>
   <source>Default</source>
   <translation>Standard</translation>
  </message>
  <message>
   <source>Done</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <source>Edit</source>
   <translation>Bearbeiten</translation>
  </message>
  <message>
   <source>Editing an earlier message. The old version stays as a branch.</source>
   <translation>Eine frühere Nachricht wird bearbeitet. Die alte Fassung bleibt als Zweig.</translation>
  </message>
  <message>
   <source>Everything stays on this computer.</source>
   <translation>Alles bleibt auf diesem Computer.</translation>
  </message>
  <message>
   <source>Get a real model</source>
   <translation>Ein richtiges Modell holen</translation>
  </message>
  <message>
   <source>Higher is more varied, 0 always picks the likeliest word.</source>
   <translation>Höher ist abwechslungsreicher, 0 nimmt immer das wahrscheinlichste Wort.</translation>
  </message>
  <message>
   <source>Larger context</source>
   <translation>Größerer Kontext</translation>
  </message>
  <message>
   <source>Leave out the oldest</source>
   <translation>Das Älteste weglassen</translation>
  </message>
  <message>
   <source>Leaves out words much less likely than the likeliest.</source>
   <translation>Lässt Wörter weg, die viel unwahrscheinlicher sind als das wahrscheinlichste.</translation>
  </message>
  <message>
   <source>Longest answer</source>
   <translation>Längste Antwort</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>Nachricht</translation>
  </message>
  <message>
   <source>Min-p</source>
   <translation>Min-p</translation>
  </message>
  <message>
   <source>New chat</source>
   <translation>Neuer Chat</translation>
  </message>
  <message>
   <source>Next version</source>
   <translation>Nächste Fassung</translation>
  </message>
  <message>
   <source>Not answered yet.</source>
   <translation>Noch nicht beantwortet.</translation>
  </message>
  <message>
   <source>Options of this chat</source>
   <translation>Optionen dieses Chats</translation>
  </message>
  <message>
   <source>Picks among the likeliest words that together have this share.</source>
   <translation>Wählt unter den wahrscheinlichsten Wörtern, die zusammen diesen Anteil haben.</translation>
  </message>
  <message>
   <source>Picks among this many likeliest words; 0 takes all.</source>
   <translation>Wählt unter so vielen wahrscheinlichsten Wörtern; 0 nimmt alle.</translation>
  </message>
  <message>
   <source>Previous version</source>
   <translation>Vorige Fassung</translation>
  </message>
  <message>
   <source>Regenerate</source>
   <translation>Neu erzeugen</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>{name} entfernen</translation>
  </message>
  <message>
   <source>Repeat penalty</source>
   <translation>Wiederholungsstrafe</translation>
  </message>
  <message>
   <source>Reset sampling</source>
   <translation>Sampling zurücksetzen</translation>
  </message>
  <message>
   <source>SSD wait {s} s</source>
   <translation>SSD-Wartezeit {s} s</translation>
  </message>
  <message>
   <source>Save and answer</source>
   <translation>Sichern und antworten</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Startwert</translation>
  </message>
  <message>
   <source>Send</source>
   <translation>Senden</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Stopp</translation>
  </message>
  <message>
   <source>Stopped by you.</source>
   <translation>Von Ihnen angehalten.</translation>
  </message>
  <message>
   <source>System prompt</source>
   <translation>Systemprompt</translation>
  </message>
  <message>
   <source>System prompt and sampling</source>
   <translation>Systemprompt und Sampling</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <source>The answer reached its length limit.</source>
   <translation>Die Antwort hat ihre Längengrenze erreicht.</translation>
  </message>
  <message>
   <source>The same seed gives the same answer again.</source>
   <translation>Derselbe Startwert gibt dieselbe Antwort noch einmal.</translation>
  </message>
  <message>
   <source>Thinking</source>
   <translation>Gedankengang</translation>
  </message>
  <message>
   <source>Thinking…</source>
   <translation>Denkt nach …</translation>
  </message>
  <message>
   <source>This answer could not be finished.</source>
   <translation>Diese Antwort konnte nicht beendet werden.</translation>
  </message>
  <message>
   <source>This answer was cut off when the program or the engine ended.</source>
   <translation>Diese Antwort wurde abgeschnitten, als das Programm oder die Engine endete.</translation>
  </message>
  <message>
   <source>This chat needs {n} tokens with your message; the model's context holds {m}. What should happen?</source>
   <translation>Dieser Chat braucht mit Ihrer Nachricht {n} Token; der Kontext des Modells fasst {m}. Was soll geschehen?</translation>
  </message>
  <message>
   <source>Thought for {s} s</source>
   <translation>{s} s nachgedacht</translation>
  </message>
  <message>
   <source>Tokens used of the context</source>
   <translation>Belegte Token des Kontexts</translation>
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
   <source>Version {n} of {m}</source>
   <translation>Fassung {n} von {m}</translation>
  </message>
  <message>
   <source>What is on your mind?</source>
   <translation>Was beschäftigt Sie?</translation>
  </message>
  <message>
   <source>What the model should know or how it should answer, in every message of this chat.</source>
   <translation>Was das Modell wissen oder wie es antworten soll, in jeder Nachricht dieses Chats.</translation>
  </message>
  <message>
   <source>You wrote</source>
   <translation>Sie schrieben</translation>
  </message>
  <message>
   <source>Your message</source>
   <translation>Ihre Nachricht</translation>
  </message>
  <message>
   <source>Your message is answered as soon as the model is loaded.</source>
   <translation>Ihre Nachricht wird beantwortet, sobald das Modell geladen ist.</translation>
  </message>
  <message>
   <source>first token {s} s</source>
   <translation>erstes Token {s} s</translation>
  </message>
  <message>
   <source>text</source>
   <translation>Text</translation>
  </message>
  <message>
   <source>{name} could not be read: {why}</source>
   <translation>{name} ließ sich nicht lesen: {why}</translation>
  </message>
  <message>
   <source>{name} is larger than 1 MB; attach a part of it.</source>
   <translation>{name} ist größer als 1 MB; hängen Sie einen Teil davon an.</translation>
  </message>
  <message>
   <source>{name} is not a text file.</source>
   <translation>{name} ist keine Textdatei.</translation>
  </message>
  <message>
   <source>{n} characters</source>
   <translation>{n} Zeichen</translation>
  </message>
  <message>
   <source>{n} tok/s</source>
   <translation>{n} Tok/s</translation>
  </message>
  <message>
   <source>{p} % from memory</source>
   <translation>{p} % aus dem Speicher</translation>
  </message>
 </context>
</TS>
