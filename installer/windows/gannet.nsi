; The Windows installer: for one user, without administrator rights. `installer/windows/nsis.py` calls makensis with
;   VERSION VERSION4   from pyproject.toml, as it is and with four numbers
;   BUNDLE             the folder that PyInstaller wrote
;   LISTS              a folder with install.nsh and remove.nsh: every file of BUNDLE, in a fixed order
;   SIZE_KB            of BUNDLE, for Windows' list of programs
;   OUTPUT             the installer to write
;   ICON (optional)    an .ico file
;   TARGET (optional)  amd64-unicode where makensis has it; official NSIS has x86 only, which every Windows runs
; Silent: /S installs or uninstalls without a question, /D=FOLDER (last) chooses the folder. What a silent run cannot
; ask is answered with the careful choice: nothing of the user's is removed, no newer version is replaced.
; uninstall.exe /CHATS and /MODELS tick what is to be removed besides the program.
; Exit codes: 0 done, 1 cancelled, 2 Gannet is running, 3 a newer version is installed.

Unicode true
!ifdef TARGET
  Target ${TARGET}
!endif
ManifestDPIAware true
RequestExecutionLevel user
SetCompressor /SOLID lzma

!define NAME "Gannet"
!define PROGRAM "gannet.exe"
!define ENGINE "gannet-engine.exe"
!define TYPE "Gannet.Model"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${NAME}"
!define SETTINGS_KEY "Software\${NAME}"

!include "MUI2.nsh"
!include "LogicLib.nsh"
!include "Sections.nsh"
!include "FileFunc.nsh"
!include "WordFunc.nsh"

Name "${NAME}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${SETTINGS_KEY}" "Folder"
BrandingText "${NAME} ${VERSION}"

VIProductVersion "${VERSION4}"
VIAddVersionKey /LANG=0 "ProductName" "${NAME}"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION4}"
VIAddVersionKey /LANG=0 "FileDescription" "${NAME} installer"
VIAddVersionKey /LANG=0 "LegalCopyright" "Apache-2.0"

!ifdef ICON
  !define MUI_ICON "${ICON}"
  !define MUI_UNICON "${ICON}"
!endif
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\${PROGRAM}"
!define MUI_COMPONENTSPAGE_SMALLDESC

!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!define MUI_COMPONENTSPAGE_TEXT_TOP "$(what_goes)"
!define MUI_PAGE_CUSTOMFUNCTION_SHOW un.HideSpaceRequired
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

LangString running ${LANG_ENGLISH} "Gannet is running. Close its window, then go on."
LangString running ${LANG_GERMAN} "Gannet läuft. Schließen Sie sein Fenster, dann geht es weiter."
LangString newer ${LANG_ENGLISH} "Gannet $R1 is installed, which is newer than ${VERSION}. An older version may refuse to open your chats. Install ${VERSION} all the same?"
LangString newer ${LANG_GERMAN} "Gannet $R1 ist installiert und neuer als ${VERSION}. Eine ältere Version öffnet Ihre Chats womöglich nicht. ${VERSION} trotzdem installieren?"
LangString what_goes ${LANG_ENGLISH} "The program goes. Tick what shall go with it; what is not ticked stays where it is."
LangString what_goes ${LANG_GERMAN} "Das Programm wird entfernt. Haken Sie an, was mit ihm gehen soll; alles andere bleibt, wo es ist."
LangString chats ${LANG_ENGLISH} "Chats and settings"
LangString chats ${LANG_GERMAN} "Chats und Einstellungen"
LangString models ${LANG_ENGLISH} "Downloaded models"
LangString models ${LANG_GERMAN} "Heruntergeladene Modelle"
LangString about_program ${LANG_ENGLISH} "The program itself."
LangString about_program ${LANG_GERMAN} "Das Programm selbst."
LangString about_chats ${LANG_ENGLISH} "Chats, settings, presets and what Gannet has measured. They cannot be brought back."
LangString about_chats ${LANG_GERMAN} "Chats, Einstellungen, Presets und was Gannet gemessen hat. Sie sind dann unwiederbringlich fort."
LangString about_models ${LANG_ENGLISH} "Models in Gannet's own folder. Models in other folders of yours always stay."
LangString about_models ${LANG_GERMAN} "Modelle in Gannets eigenem Ordner. Modelle in anderen Ordnern bleiben immer."
LangString kind ${LANG_ENGLISH} "GGUF model"
LangString kind ${LANG_GERMAN} "GGUF-Modell"

Function un.HideSpaceRequired
  FindWindow $0 "#32770" "" $HWNDPARENT
  GetDlgItem $0 $0 1023 ; the line says how much an installation needs
  ShowWindow $0 ${SW_HIDE}
FunctionEnd

; A running program cannot be opened for writing. Both programs, since the engine may outlive the window for a moment.
!macro CLOSE_FIRST un
  Function ${un}CloseFirst
    ${Do}
      StrCpy $R0 ""
      ${If} ${FileExists} "$INSTDIR\${PROGRAM}"
        ClearErrors
        FileOpen $0 "$INSTDIR\${PROGRAM}" a
        ${If} ${Errors}
          StrCpy $R0 "running"
        ${Else}
          FileClose $0
        ${EndIf}
      ${EndIf}
      ${If} ${FileExists} "$INSTDIR\${ENGINE}"
        ClearErrors
        FileOpen $0 "$INSTDIR\${ENGINE}" a
        ${If} ${Errors}
          StrCpy $R0 "running"
        ${Else}
          FileClose $0
        ${EndIf}
      ${EndIf}
      ${If} $R0 == ""
        Return
      ${EndIf}
      MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(running)" /SD IDCANCEL IDRETRY +3
        SetErrorLevel 2
        Quit
    ${Loop}
  FunctionEnd
!macroend
!insertmacro CLOSE_FIRST ""
!insertmacro CLOSE_FIRST "un."

Function .onInit
  SetShellVarContext current
  ReadRegStr $R1 HKCU "${UNINSTALL_KEY}" "DisplayVersion"
  ${If} $R1 != ""
    ${VersionCompare} "$R1" "${VERSION}" $R2
    ${If} $R2 == 1
      MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(newer)" /SD IDNO IDYES +3
        SetErrorLevel 3
        Quit
    ${EndIf}
  ${EndIf}
FunctionEnd

Section "${NAME}"
  Call CloseFirst
  ; The version that is there takes its own files away, so that none of them is left among the new ones.
  ReadRegStr $R1 HKCU "${SETTINGS_KEY}" "Folder"
  ${If} $R1 != ""
  ${AndIf} ${FileExists} "$R1\uninstall.exe"
    ExecWait '"$R1\uninstall.exe" /S /UPGRADE _?=$R1'
    Delete "$R1\uninstall.exe"
    RMDir "$R1"
  ${EndIf}

  !include "${LISTS}/install.nsh"
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${PROGRAM}"

  WriteRegStr HKCU "${SETTINGS_KEY}" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\${PROGRAM}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1

  ; Gannet is offered for .gguf files, and opens them only where nothing else does.
  WriteRegStr HKCU "Software\Classes\${TYPE}" "" "$(kind)"
  WriteRegStr HKCU "Software\Classes\${TYPE}\DefaultIcon" "" "$INSTDIR\${PROGRAM},0"
  WriteRegStr HKCU "Software\Classes\${TYPE}\shell\open\command" "" '"$INSTDIR\${PROGRAM}" "%1"'
  WriteRegStr HKCU "Software\Classes\.gguf\OpenWithProgids" "${TYPE}" ""
  ReadRegStr $R1 HKCU "Software\Classes\.gguf" ""
  ${If} $R1 == ""
    WriteRegStr HKCU "Software\Classes\.gguf" "" "${TYPE}"
  ${EndIf}
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)' ; SHCNE_ASSOCCHANGED
SectionEnd

Section "un.${NAME}" uninstall_program
  SectionIn RO
  Call un.CloseFirst
  !include "${LISTS}/remove.nsh"
  ${If} $R9 == "upgrade" ; the new version writes everything below again
    Return
  ${EndIf}
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR" ; only if it is empty: what others put there stays
  Delete "$SMPROGRAMS\${NAME}.lnk"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  DeleteRegKey HKCU "${SETTINGS_KEY}"
  DeleteRegKey HKCU "Software\Classes\${TYPE}"
  DeleteRegValue HKCU "Software\Classes\.gguf\OpenWithProgids" "${TYPE}"
  DeleteRegKey /ifempty HKCU "Software\Classes\.gguf\OpenWithProgids"
  ReadRegStr $R1 HKCU "Software\Classes\.gguf" ""
  ${If} $R1 == "${TYPE}"
    DeleteRegValue HKCU "Software\Classes\.gguf" ""
  ${EndIf}
  DeleteRegKey /ifempty HKCU "Software\Classes\.gguf"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

; Both are off until the user ticks them.
Section /o "un.$(chats)" uninstall_chats
  FindFirst $0 $1 "$LOCALAPPDATA\${NAME}\*"
  ${DoWhile} $1 != ""
    ${If} $1 != "."
    ${AndIf} $1 != ".."
    ${AndIf} $1 != "models"
      ${If} ${FileExists} "$LOCALAPPDATA\${NAME}\$1\*"
        RMDir /r "$LOCALAPPDATA\${NAME}\$1"
      ${Else}
        Delete "$LOCALAPPDATA\${NAME}\$1"
      ${EndIf}
    ${EndIf}
    FindNext $0 $1
  ${Loop}
  FindClose $0
  RMDir "$LOCALAPPDATA\${NAME}"
SectionEnd

Section /o "un.$(models)" uninstall_models
  RMDir /r "$LOCALAPPDATA\${NAME}\models"
  RMDir "$LOCALAPPDATA\${NAME}"
SectionEnd

!insertmacro MUI_UNFUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${uninstall_program} $(about_program)
  !insertmacro MUI_DESCRIPTION_TEXT ${uninstall_chats} $(about_chats)
  !insertmacro MUI_DESCRIPTION_TEXT ${uninstall_models} $(about_models)
!insertmacro MUI_UNFUNCTION_DESCRIPTION_END

Function un.onInit
  SetShellVarContext current
  StrCpy $R9 ""
  ${GetParameters} $R0
  ClearErrors
  ${GetOptions} $R0 "/UPGRADE" $R1
  ${IfNot} ${Errors}
    StrCpy $R9 "upgrade"
  ${EndIf}
  ClearErrors
  ${GetOptions} $R0 "/CHATS" $R1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${uninstall_chats}
  ${EndIf}
  ClearErrors
  ${GetOptions} $R0 "/MODELS" $R1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${uninstall_models}
  ${EndIf}
FunctionEnd
