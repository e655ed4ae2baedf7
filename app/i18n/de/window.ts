<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>window</name>
  <message>
   <source>&amp;About Gannet</source>
   <translation>Ü&amp;ber Gannet</translation>
  </message>
  <message>
   <source>&amp;Answer</source>
   <translation>&amp;Antwort</translation>
  </message>
  <message>
   <source>&amp;Attach text files…</source>
   <translation>&amp;Textdateien anhängen …</translation>
  </message>
  <message>
   <source>&amp;Cancel loading</source>
   <translation>Laden &amp;abbrechen</translation>
  </message>
  <message>
   <source>&amp;Chat</source>
   <translation>&amp;Chat</translation>
  </message>
  <message>
   <source>&amp;Continue</source>
   <translation>&amp;Fortsetzen</translation>
  </message>
  <message>
   <source>&amp;Delete chat</source>
   <translation>Chat &amp;löschen</translation>
  </message>
  <message>
   <source>&amp;Edit</source>
   <translation>&amp;Bearbeiten</translation>
  </message>
  <message>
   <source>&amp;Edit the last message</source>
   <translation>&amp;Letzte Nachricht bearbeiten</translation>
  </message>
  <message>
   <source>&amp;Full screen</source>
   <translation>&amp;Vollbild</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>&amp;Hilfe</translation>
  </message>
  <message>
   <source>&amp;Keyboard shortcuts</source>
   <translation>&amp;Tastenkürzel</translation>
  </message>
  <message>
   <source>&amp;Larger text</source>
   <translation>&amp;Größerer Text</translation>
  </message>
  <message>
   <source>&amp;Model</source>
   <translation>&amp;Modell</translation>
  </message>
  <message>
   <source>&amp;Models</source>
   <translation>&amp;Modelle</translation>
  </message>
  <message>
   <source>&amp;New chat</source>
   <translation>&amp;Neuer Chat</translation>
  </message>
  <message>
   <source>&amp;Pick a model</source>
   <translation>Modell &amp;wählen</translation>
  </message>
  <message>
   <source>&amp;Pin chat</source>
   <translation>Chat an&amp;heften</translation>
  </message>
  <message>
   <source>&amp;Quit</source>
   <translation>&amp;Beenden</translation>
  </message>
  <message>
   <source>&amp;Regenerate</source>
   <translation>&amp;Neu erzeugen</translation>
  </message>
  <message>
   <source>&amp;Rename chat</source>
   <translation>Chat &amp;umbenennen</translation>
  </message>
  <message>
   <source>&amp;Restart the engine</source>
   <translation>Engine &amp;neu starten</translation>
  </message>
  <message>
   <source>&amp;Search chats</source>
   <translation>Chats &amp;durchsuchen</translation>
  </message>
  <message>
   <source>&amp;Server</source>
   <translation>&amp;Server</translation>
  </message>
  <message>
   <source>&amp;Stop</source>
   <translation>&amp;Stopp</translation>
  </message>
  <message>
   <source>&amp;Telemetry</source>
   <translation>&amp;Telemetrie</translation>
  </message>
  <message>
   <source>&amp;Tune for this computer…</source>
   <translation>Für diesen Computer &amp;optimieren …</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>A&amp;nsicht</translation>
  </message>
  <message>
   <source>0 uses the size of your desktop.</source>
   <translation>0 nimmt die Größe des Desktops.</translation>
  </message>
  <message>
   <source>A chat could not be saved: {why}</source>
   <translation>Ein Chat ließ sich nicht speichern: {why}</translation>
  </message>
  <message>
   <source>A part of your chats could not be read and is left out: {what}</source>
   <translation>Ein Teil Ihrer Chats ließ sich nicht lesen und fehlt: {what}</translation>
  </message>
  <message>
   <source>About Gannet</source>
   <translation>Über Gannet</translation>
  </message>
  <message>
   <source>Answering…</source>
   <translation>Antwortet …</translation>
  </message>
  <message>
   <source>Appearance</source>
   <translation>Aussehen</translation>
  </message>
  <message>
   <source>April</source>
   <translation>April</translation>
  </message>
  <message>
   <source>August</source>
   <translation>August</translation>
  </message>
  <message>
   <source>Balanced</source>
   <translation>Ausgewogen</translation>
  </message>
  <message>
   <source>Cancel loading</source>
   <translation>Laden abbrechen</translation>
  </message>
  <message>
   <source>Chat</source>
   <translation>Chat</translation>
  </message>
  <message>
   <source>Chats</source>
   <translation>Chats</translation>
  </message>
  <message>
   <source>Check for a &amp;newer release…</source>
   <translation>Nach einer &amp;neueren Version fragen …</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Co&amp;py the last answer</source>
   <translation>Letzte Antwort &amp;kopieren</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <source>Could not write {name}: {why}</source>
   <translation>{name} ließ sich nicht schreiben: {why}</translation>
  </message>
  <message>
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <source>December</source>
   <translation>Dezember</translation>
  </message>
  <message>
   <source>Demo model</source>
   <translation>Demo-Modell</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>Details</translation>
  </message>
  <message>
   <source>Engine</source>
   <translation>Engine</translation>
  </message>
  <message>
   <source>Engine &amp;panel</source>
   <translation>Engine-&amp;Feld</translation>
  </message>
  <message>
   <source>Engine settings…</source>
   <translation>Engine-Einstellungen …</translation>
  </message>
  <message>
   <source>Enter sends</source>
   <translation>Eingabetaste sendet</translation>
  </message>
  <message>
   <source>Experts in memory</source>
   <translation>Experten im Speicher</translation>
  </message>
  <message>
   <source>Export as &amp;JSON…</source>
   <translation>Als &amp;JSON exportieren …</translation>
  </message>
  <message>
   <source>Export as &amp;Markdown…</source>
   <translation>Als &amp;Markdown exportieren …</translation>
  </message>
  <message>
   <source>Export chat</source>
   <translation>Chat exportieren</translation>
  </message>
  <message>
   <source>February</source>
   <translation>Februar</translation>
  </message>
  <message>
   <source>Font size</source>
   <translation>Schriftgröße</translation>
  </message>
  <message>
   <source>Found</source>
   <translation>Gefunden</translation>
  </message>
  <message>
   <source>Gannet cannot start: {why}</source>
   <translation>Gannet kann nicht starten: {why}</translation>
  </message>
  <message>
   <source>Gannet {version} has been released; this is {ours}. Your chats, settings and models stay as they are.</source>
   <translation>Gannet {version} ist erschienen; dies ist {ours}. Ihre Chats, Einstellungen und Modelle bleiben, wie sie sind.</translation>
  </message>
  <message>
   <source>Go to the &amp;earlier message</source>
   <translation>Zur fr&amp;üheren Nachricht</translation>
  </message>
  <message>
   <source>Go to the &amp;later message</source>
   <translation>Zur s&amp;päteren Nachricht</translation>
  </message>
  <message>
   <source>Go to the &amp;message box</source>
   <translation>Zum &amp;Eingabefeld</translation>
  </message>
  <message>
   <source>High contrast</source>
   <translation>Hoher Kontrast</translation>
  </message>
  <message>
   <source>How long each token waited for experts to be read from the SSD.</source>
   <translation>Wie lange jedes Token darauf wartete, dass Experten von der SSD gelesen wurden.</translation>
  </message>
  <message>
   <source>How many tokens (about three quarters of a word each) are written per second.</source>
   <translation>Wie viele Token (je etwa ein dreiviertel Wort) pro Sekunde geschrieben werden.</translation>
  </message>
  <message>
   <source>How much is read from the SSD per second.</source>
   <translation>Wie viel pro Sekunde von der SSD gelesen wird.</translation>
  </message>
  <message>
   <source>January</source>
   <translation>Januar</translation>
  </message>
  <message>
   <source>July</source>
   <translation>Juli</translation>
  </message>
  <message>
   <source>June</source>
   <translation>Juni</translation>
  </message>
  <message>
   <source>Keyboard shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Tasten</translation>
  </message>
  <message>
   <source>Language</source>
   <translation>Sprache</translation>
  </message>
  <message>
   <source>Last 30 days</source>
   <translation>Letzte 30 Tage</translation>
  </message>
  <message>
   <source>Last 7 days</source>
   <translation>Letzte 7 Tage</translation>
  </message>
  <message>
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <source>Light or dark; System follows your desktop.</source>
   <translation>Hell oder dunkel; „System“ folgt dem Desktop.</translation>
  </message>
  <message>
   <source>Load the last model at start</source>
   <translation>Beim Start das letzte Modell laden</translation>
  </message>
  <message>
   <source>Loading progress</source>
   <translation>Ladefortschritt</translation>
  </message>
  <message>
   <source>Loading the model…</source>
   <translation>Das Modell wird geladen …</translation>
  </message>
  <message>
   <source>Loading…</source>
   <translation>Lädt …</translation>
  </message>
  <message>
   <source>March</source>
   <translation>März</translation>
  </message>
  <message>
   <source>May</source>
   <translation>Mai</translation>
  </message>
  <message>
   <source>Measuring settings; answers wait.</source>
   <translation>Einstellungen werden gemessen; Antworten warten.</translation>
  </message>
  <message>
   <source>Measuring settings…</source>
   <translation>Einstellungen werden gemessen …</translation>
  </message>
  <message>
   <source>Memory</source>
   <translation>Arbeitsspeicher</translation>
  </message>
  <message>
   <source>Model: {name}</source>
   <translation>Modell: {name}</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>More models…</source>
   <translation>Weitere Modelle …</translation>
  </message>
  <message>
   <source>Ne&amp;xt chat</source>
   <translation>N&amp;ächster Chat</translation>
  </message>
  <message>
   <source>New chat</source>
   <translation>Neuer Chat</translation>
  </message>
  <message>
   <source>No model</source>
   <translation>Kein Modell</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>Kein Modell geladen</translation>
  </message>
  <message>
   <source>No model is loaded.</source>
   <translation>Es ist kein Modell geladen.</translation>
  </message>
  <message>
   <source>Nothing found</source>
   <translation>Nichts gefunden</translation>
  </message>
  <message>
   <source>Nothing moves or fades.</source>
   <translation>Nichts bewegt sich oder blendet über.</translation>
  </message>
  <message>
   <source>November</source>
   <translation>November</translation>
  </message>
  <message>
   <source>October</source>
   <translation>Oktober</translation>
  </message>
  <message>
   <source>Off: Ctrl+Enter sends and Enter begins a new line.</source>
   <translation>Aus: Strg+Eingabe sendet, die Eingabetaste beginnt eine neue Zeile.</translation>
  </message>
  <message>
   <source>Off: the engine starts empty.</source>
   <translation>Aus: die Engine startet ohne Modell.</translation>
  </message>
  <message>
   <source>Open full telemetry</source>
   <translation>Zur Telemetrie</translation>
  </message>
  <message>
   <source>Open its page</source>
   <translation>Ihre Seite öffnen</translation>
  </message>
  <message>
   <source>Open or close the last &amp;thinking</source>
   <translation>Letzten &amp;Gedankengang auf- oder zuklappen</translation>
  </message>
  <message>
   <source>Open thinking</source>
   <translation>Gedankengang aufklappen</translation>
  </message>
  <message>
   <source>P&amp;ick a preset</source>
   <translation>&amp;Voreinstellung wählen</translation>
  </message>
  <message>
   <source>Pick a model</source>
   <translation>Modell wählen</translation>
  </message>
  <message>
   <source>Pick a preset</source>
   <translation>Voreinstellung wählen</translation>
  </message>
  <message>
   <source>Pinned</source>
   <translation>Angeheftet</translation>
  </message>
  <message>
   <source>Pre&amp;vious chat</source>
   <translation>&amp;Voriger Chat</translation>
  </message>
  <message>
   <source>Preset</source>
   <translation>Voreinstellung</translation>
  </message>
  <message>
   <source>Ready.</source>
   <translation>Bereit.</translation>
  </message>
  <message>
   <source>Reduce motion</source>
   <translation>Weniger Bewegung</translation>
  </message>
  <message>
   <source>Restart</source>
   <translation>Neu starten</translation>
  </message>
  <message>
   <source>Runs mixture-of-experts language models larger than this computer's memory, by reading experts from the SSD just before they are needed. Everything stays on this computer; nothing is sent anywhere.</source>
   <translation>Betreibt Mixture-of-Experts-Sprachmodelle, die größer sind als der Arbeitsspeicher dieses Computers: Experten werden von der SSD gelesen, kurz bevor sie gebraucht werden. Alles bleibt auf diesem Computer; nichts wird irgendwohin gesendet.</translation>
  </message>
  <message>
   <source>S&amp;ettings</source>
   <translation>&amp;Einstellungen</translation>
  </message>
  <message>
   <source>S&amp;ystem prompt and sampling</source>
   <translation>S&amp;ystemprompt und Sampling</translation>
  </message>
  <message>
   <source>SSD</source>
   <translation>SSD</translation>
  </message>
  <message>
   <source>Save &amp;diagnostics…</source>
   <translation>&amp;Diagnose speichern …</translation>
  </message>
  <message>
   <source>Save diagnostics</source>
   <translation>Diagnose speichern</translation>
  </message>
  <message>
   <source>Saved as {name}.</source>
   <translation>Gespeichert als {name}.</translation>
  </message>
  <message>
   <source>Saved as {name}. It contains no chats.</source>
   <translation>Gespeichert als {name}. Es enthält keine Chats.</translation>
  </message>
  <message>
   <source>Search chats</source>
   <translation>Chats durchsuchen</translation>
  </message>
  <message>
   <source>September</source>
   <translation>September</translation>
  </message>
  <message>
   <source>Server</source>
   <translation>Server</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Share of the experts needed that were in memory already.</source>
   <translation>Anteil der gebrauchten Experten, die schon im Speicher waren.</translation>
  </message>
  <message>
   <source>Share of this computer's memory that the engine uses.</source>
   <translation>Anteil des Arbeitsspeichers, den die Engine belegt.</translation>
  </message>
  <message>
   <source>Show a model's thinking unfolded while it answers.</source>
   <translation>Zeigt den Gedankengang eines Modells aufgeklappt, während es antwortet.</translation>
  </message>
  <message>
   <source>Si&amp;debar</source>
   <translation>Seiten&amp;leiste</translation>
  </message>
  <message>
   <source>Smalle&amp;r text</source>
   <translation>&amp;Kleinerer Text</translation>
  </message>
  <message>
   <source>Something went wrong in the window: {what}</source>
   <translation>Im Fenster ging etwas schief: {what}</translation>
  </message>
  <message>
   <source>Speed</source>
   <translation>Tempo</translation>
  </message>
  <message>
   <source>Speed, opens the engine panel</source>
   <translation>Tempo, öffnet das Engine-Feld</translation>
  </message>
  <message>
   <source>Starting the engine…</source>
   <translation>Engine startet …</translation>
  </message>
  <message>
   <source>System</source>
   <translation>System</translation>
  </message>
  <message>
   <source>Takes effect at the next start.</source>
   <translation>Wirkt ab dem nächsten Start.</translation>
  </message>
  <message>
   <source>Telemetry</source>
   <translation>Telemetrie</translation>
  </message>
  <message>
   <source>The engine has stopped</source>
   <translation>Die Engine hat aufgehört</translation>
  </message>
  <message>
   <source>The engine has stopped unexpectedly.</source>
   <translation>Die Engine hat unerwartet aufgehört.</translation>
  </message>
  <message>
   <source>The engine is off.</source>
   <translation>Die Engine ist aus.</translation>
  </message>
  <message>
   <source>The engine is starting…</source>
   <translation>Die Engine startet …</translation>
  </message>
  <message>
   <source>The engine wrote nothing.</source>
   <translation>Die Engine hat nichts geschrieben.</translation>
  </message>
  <message>
   <source>The language changes at the next start.</source>
   <translation>Die Sprache wechselt beim nächsten Start.</translation>
  </message>
  <message>
   <source>The last minute of tokens per second. Opens the engine panel.</source>
   <translation>Token pro Sekunde in der letzten Minute. Öffnet das Engine-Feld.</translation>
  </message>
  <message>
   <source>The model could not be loaded</source>
   <translation>Modell ließ sich nicht laden</translation>
  </message>
  <message>
   <source>The model could not be loaded.</source>
   <translation>Das Modell ließ sich nicht laden.</translation>
  </message>
  <message>
   <source>The releases page sent an answer that names no release.</source>
   <translation>Die Antwort der Versionsseite nennt keine Version.</translation>
  </message>
  <message>
   <source>There is no file {path}.</source>
   <translation>Es gibt keine Datei {path}.</translation>
  </message>
  <message>
   <source>This build was made without the address of a releases page: it cannot ask.</source>
   <translation>Dieses Programm wurde ohne die Adresse einer Versionsseite gebaut und kann nicht fragen.</translation>
  </message>
  <message>
   <source>This is the newest release ({version}).</source>
   <translation>Dies ist die neueste Version ({version}).</translation>
  </message>
  <message>
   <source>Today</source>
   <translation>Heute</translation>
  </message>
  <message>
   <source>Un&amp;pin chat</source>
   <translation>Chat &amp;lösen</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <source>Unload the model</source>
   <translation>Modell entladen</translation>
  </message>
  <message>
   <source>Waiting for the SSD</source>
   <translation>Warten auf die SSD</translation>
  </message>
  <message>
   <source>What</source>
   <translation>Was</translation>
  </message>
  <message>
   <source>Yesterday</source>
   <translation>Gestern</translation>
  </message>
  <message>
   <source>Your preferences could not be read ({why}). They are kept as {name}; the defaults are on.</source>
   <translation>Ihre Einstellungen ließen sich nicht lesen ({why}). Sie sind als {name} aufgehoben; es gelten die Standardwerte.</translation>
  </message>
  <message>
   <source>{host} did not say which release is the newest: {why}. Nothing has changed.</source>
   <translation>{host} hat nicht gesagt, welche Version die neueste ist: {why}. Es hat sich nichts geändert.</translation>
  </message>
  <message>
   <source>{name} is no model file: Gannet opens files whose names end in .gguf.</source>
   <translation>{name} ist keine Modelldatei: Gannet öffnet Dateien, deren Name auf .gguf endet.</translation>
  </message>
  <message>
   <source>{n} MB/s</source>
   <translation>{n} MB/s</translation>
  </message>
  <message>
   <source>{n} ms per token</source>
   <translation>{n} ms je Token</translation>
  </message>
  <message>
   <source>{n} tok/s</source>
   <translation>{n} Tok/s</translation>
  </message>
  <message>
   <source>{path} was saved by Gannet {theirs}; this is Gannet {ours}, which cannot read it. Nothing was changed. Install Gannet {theirs} or later to go on.</source>
   <translation>{path} wurde von Gannet {theirs} gespeichert; dies ist Gannet {ours} und kann das nicht lesen. Es wurde nichts geändert. Installieren Sie Gannet {theirs} oder neuer, um weiterzumachen.</translation>
  </message>
  <message>
   <source>{path} was saved by a later version of Gannet than this one ({ours}). Nothing was changed. Install the later version again to go on.</source>
   <translation>{path} wurde von einer neueren Version von Gannet als dieser ({ours}) gespeichert. Es wurde nichts geändert. Installieren Sie die neuere Version wieder, um weiterzumachen.</translation>
  </message>
  <message>
   <source>“{title}” was deleted.</source>
   <translation>„{title}“ wurde gelöscht.</translation>
  </message>
 </context>
</TS>
