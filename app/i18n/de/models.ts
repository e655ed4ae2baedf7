<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>models</name>
  <message>
   <source>Add a folder with models</source>
   <translation>Einen Ordner mit Modellen hinzufügen</translation>
  </message>
  <message>
   <source>Add folder…</source>
   <translation>Ordner hinzufügen …</translation>
  </message>
  <message>
   <source>Any other model can be had by the name of its repository, owner/name.</source>
   <translation>Jedes andere Modell bekommen Sie über den Namen seines Repositorys, Eigentümer/Name.</translation>
  </message>
  <message>
   <source>As of {date}. “About” is an estimate; the hub says the exact size when a model is opened.</source>
   <translation>Stand {date}. „Etwa“ ist geschätzt; die genaue Größe nennt der Hub, wenn ein Modell geöffnet wird.</translation>
  </message>
  <message>
   <source>Ask again</source>
   <translation>Noch einmal fragen</translation>
  </message>
  <message>
   <source>Asking the hub</source>
   <translation>Der Hub wird gefragt</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Cannot be used</source>
   <translation>Nicht verwendbar</translation>
  </message>
  <message>
   <source>Catalogue</source>
   <translation>Katalog</translation>
  </message>
  <message>
   <source>Catalogue file</source>
   <translation>Katalogdatei</translation>
  </message>
  <message>
   <source>Catalogues (*.json)</source>
   <translation>Kataloge (*.json)</translation>
  </message>
  <message>
   <source>Checking what is here already, {sizes}</source>
   <translation>Prüfe, was schon hier ist, {sizes}</translation>
  </message>
  <message>
   <source>Choose a variant of {name}</source>
   <translation>Eine Variante von {name} wählen</translation>
  </message>
  <message>
   <source>Choose…</source>
   <translation>Wählen …</translation>
  </message>
  <message>
   <source>Copy path</source>
   <translation>Pfad kopieren</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <source>Download one from the catalogue, or add a folder that has GGUF files in it.</source>
   <translation>Laden Sie eines aus dem Katalog oder fügen Sie einen Ordner mit GGUF-Dateien hinzu.</translation>
  </message>
  <message>
   <source>Download {name}</source>
   <translation>{name} herunterladen</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <source>Downloads ({n})</source>
   <translation>Downloads ({n})</translation>
  </message>
  <message>
   <source>Find a model</source>
   <translation>Ein Modell finden</translation>
  </message>
  <message>
   <source>Find a model or name a repository</source>
   <translation>Ein Modell finden oder ein Repository nennen</translation>
  </message>
  <message>
   <source>Find a model…</source>
   <translation>Modell finden …</translation>
  </message>
  <message>
   <source>Find in the catalogue, or type owner/name of any repository</source>
   <translation>Im Katalog finden oder Eigentümer/Name eines Repositorys eingeben</translation>
  </message>
  <message>
   <source>Folder to download to</source>
   <translation>Zielordner</translation>
  </message>
  <message>
   <source>Go on</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <source>In use</source>
   <translation>In Gebrauch</translation>
  </message>
  <message>
   <source>Incomplete</source>
   <translation>Unvollständig</translation>
  </message>
  <message>
   <source>Licence: {name}</source>
   <translation>Lizenz: {name}</translation>
  </message>
  <message>
   <source>Look again</source>
   <translation>Noch einmal nachsehen</translation>
  </message>
  <message>
   <source>Look it up on the hub</source>
   <translation>Auf dem Hub nachsehen</translation>
  </message>
  <message>
   <source>Look up</source>
   <translation>Nachsehen</translation>
  </message>
  <message>
   <source>Looking at the files of {name}…</source>
   <translation>Sehe mir die Dateien von {name} an …</translation>
  </message>
  <message>
   <source>Looking for models</source>
   <translation>Suche nach Modellen</translation>
  </message>
  <message>
   <source>Looking through your model folders…</source>
   <translation>Ihre Modellordner werden durchsucht …</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Models you download appear here, with their progress.</source>
   <translation>Modelle, die Sie herunterladen, erscheinen hier mit ihrem Fortschritt.</translation>
  </message>
  <message>
   <source>More about this model</source>
   <translation>Mehr zu diesem Modell</translation>
  </message>
  <message>
   <source>No downloads</source>
   <translation>Keine Downloads</translation>
  </message>
  <message>
   <source>No models yet</source>
   <translation>Noch keine Modelle</translation>
  </message>
  <message>
   <source>Not connected</source>
   <translation>Nicht angeschlossen</translation>
  </message>
  <message>
   <source>Not in the catalogue</source>
   <translation>Nicht im Katalog</translation>
  </message>
  <message>
   <source>On this computer</source>
   <translation>Auf diesem Rechner</translation>
  </message>
  <message>
   <source>Only {have} of {all} parts are here.</source>
   <translation>Nur {have} von {all} Teilen sind hier.</translation>
  </message>
  <message>
   <source>Open the catalogue</source>
   <translation>Katalog öffnen</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Paused at {sizes}</source>
   <translation>Angehalten bei {sizes}</translation>
  </message>
  <message>
   <source>Progress of {name}</source>
   <translation>Fortschritt von {name}</translation>
  </message>
  <message>
   <source>Reading what the file says about itself…</source>
   <translation>Lese, was die Datei über sich sagt …</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Remove folder {name} from the library</source>
   <translation>Ordner {name} aus der Bibliothek nehmen</translation>
  </message>
  <message>
   <source>Show in folder</source>
   <translation>Im Ordner zeigen</translation>
  </message>
  <message>
   <source>The download stopped: {detail}. What is here already is kept.</source>
   <translation>Der Download brach ab: {detail}. Was schon hier ist, bleibt.</translation>
  </message>
  <message>
   <source>The drive is too full: {size} more are needed. Make room, then go on; nothing is lost.</source>
   <translation>Das Laufwerk ist zu voll: {size} fehlen. Schaffen Sie Platz und machen Sie weiter; nichts geht verloren.</translation>
  </message>
  <message>
   <source>The drive with {folder} is missing.</source>
   <translation>Das Laufwerk mit {folder} fehlt.</translation>
  </message>
  <message>
   <source>The engine said nothing about this file.</source>
   <translation>Die Engine hat nichts über diese Datei gesagt.</translation>
  </message>
  <message>
   <source>The file cannot be written: {detail}</source>
   <translation>Die Datei kann nicht geschrieben werden: {detail}</translation>
  </message>
  <message>
   <source>The folder is not there</source>
   <translation>Der Ordner ist nicht da</translation>
  </message>
  <message>
   <source>The hub cannot be reached. Check the connection; what is here already is kept.</source>
   <translation>Der Hub ist nicht erreichbar. Prüfen Sie die Verbindung; was schon hier ist, bleibt.</translation>
  </message>
  <message>
   <source>The hub did not help</source>
   <translation>Der Hub konnte nicht helfen</translation>
  </message>
  <message>
   <source>The hub no longer has {detail}. Remove this download and look for the model again.</source>
   <translation>Der Hub hat {detail} nicht mehr. Entfernen Sie diesen Download und suchen Sie das Modell neu.</translation>
  </message>
  <message>
   <source>The hub stopped sending. What is here already is kept; try again later.</source>
   <translation>Der Hub sendet nicht mehr. Was schon hier ist, bleibt; versuchen Sie es später wieder.</translation>
  </message>
  <message>
   <source>The list of downloads could not be read; it is kept as {name}.</source>
   <translation>Die Liste der Downloads war nicht lesbar; sie liegt jetzt als {name}.</translation>
  </message>
  <message>
   <source>The list of downloads could not be saved: {problem}</source>
   <translation>Die Liste der Downloads konnte nicht gespeichert werden: {problem}</translation>
  </message>
  <message>
   <source>The list of models could not be read; it is made again ({name}).</source>
   <translation>Die Liste der Modelle war nicht lesbar; sie wird neu gemacht ({name}).</translation>
  </message>
  <message>
   <source>The owner of {detail} wants you to accept the licence on the hub's site and log in first.</source>
   <translation>Der Eigentümer von {detail} verlangt, dass Sie zuerst auf der Seite des Hubs die Lizenz annehmen und sich anmelden.</translation>
  </message>
  <message>
   <source>The question to the hub broke off.</source>
   <translation>Die Frage an den Hub brach ab.</translation>
  </message>
  <message>
   <source>There is no repository of this name. It is written owner/name.</source>
   <translation>Ein Repository dieses Namens gibt es nicht. Man schreibt Eigentümer/Name.</translation>
  </message>
  <message>
   <source>This file cannot be used as a catalogue: {problem}</source>
   <translation>Diese Datei taugt nicht als Katalog: {problem}</translation>
  </message>
  <message>
   <source>This repository has no complete GGUF model.</source>
   <translation>Dieses Repository hat kein vollständiges GGUF-Modell.</translation>
  </message>
  <message>
   <source>To</source>
   <translation>Nach</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal</translation>
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
   <source>Use a newer catalogue file…</source>
   <translation>Neuere Katalogdatei verwenden …</translation>
  </message>
  <message>
   <source>Use {model}</source>
   <translation>{model} verwenden</translation>
  </message>
  <message>
   <source>Waiting for its turn, {sizes}</source>
   <translation>Wartet, bis es dran ist, {sizes}</translation>
  </message>
  <message>
   <source>What arrived is not what the hub promised, so it was deleted. Download it again.</source>
   <translation>Was ankam, ist nicht, was der Hub versprach; es wurde gelöscht. Laden Sie es noch einmal.</translation>
  </message>
  <message>
   <source>You cancelled the question.</source>
   <translation>Sie haben die Frage abgebrochen.</translation>
  </message>
  <message>
   <source>about {size} as {name}</source>
   <translation>etwa {size} als {name}</translation>
  </message>
  <message>
   <source>drive not connected</source>
   <translation>Laufwerk nicht angeschlossen</translation>
  </message>
  <message>
   <source>no experts: everything works for every token</source>
   <translation>keine Experten: alles arbeitet für jedes Token</translation>
  </message>
  <message>
   <source>recommended</source>
   <translation>empfohlen</translation>
  </message>
  <message>
   <source>the download process ended</source>
   <translation>der Download-Prozess endete</translation>
  </message>
  <message>
   <source>the engine is off, so the files have not been looked into</source>
   <translation>die Engine ist aus, darum wurde noch nicht in die Dateien gesehen</translation>
  </message>
  <message>
   <source>up to {n}k tokens of context</source>
   <translation>bis zu {n}k Token Kontext</translation>
  </message>
  <message>
   <source>{all} billion weights, {active} at a time</source>
   <translation>{all} Milliarden Gewichte, {active} auf einmal</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} von {total}</translation>
  </message>
  <message>
   <source>{folder} cannot be found. If it is on another drive, connect it.</source>
   <translation>{folder} ist nicht zu finden. Liegt er auf einem anderen Laufwerk, schließen Sie es an.</translation>
  </message>
  <message>
   <source>{folder} is no longer part of the library; its files are untouched.</source>
   <translation>{folder} gehört nicht mehr zur Bibliothek; die Dateien bleiben unberührt.</translation>
  </message>
  <message>
   <source>{licence}, not checked</source>
   <translation>{licence}, nicht geprüft</translation>
  </message>
  <message>
   <source>{name} may still be on the hub.</source>
   <translation>{name} kann trotzdem auf dem Hub sein.</translation>
  </message>
  <message numerus="yes">
   <source>{n} folders could not be read</source>
   <comment>one: {n} folder could not be read</comment>
   <translation>
    <numerusform>{n} Ordner war nicht lesbar</numerusform>
    <numerusform>{n} Ordner waren nicht lesbar</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <source>{n} models</source>
   <comment>one: {n} model</comment>
   <translation>
    <numerusform>{n} Modell</numerusform>
    <numerusform>{n} Modelle</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <source>{n} on drives that are not connected</source>
   <comment>one: {n} on a drive that is not connected</comment>
   <translation>
    <numerusform>{n} auf einem Laufwerk, das nicht angeschlossen ist</numerusform>
    <numerusform>{n} auf Laufwerken, die nicht angeschlossen sind</numerusform>
   </translation>
  </message>
  <message>
   <source>{n} parts</source>
   <translation>{n} Teile</translation>
  </message>
  <message>
   <source>{sizes}, {rate}, {time} left</source>
   <translation>{sizes}, {rate}, noch {time}</translation>
  </message>
  <message>
   <source>{size} as {name}</source>
   <translation>{size} als {name}</translation>
  </message>
  <message>
   <source>{size} free</source>
   <translation>{size} frei</translation>
  </message>
  <message>
   <source>{total}, complete and checked</source>
   <translation>{total}, vollständig und geprüft</translation>
  </message>
  <message>
   <source>{used} of {all} experts at a time</source>
   <translation>{used} von {all} Experten auf einmal</translation>
  </message>
 </context>
</TS>
