# Imported targets ggml_base, ggml_cpu (absent where backends are loaded at run time), ggml and llama for the
# libraries of the installed llama_cpp package, and LLAMA_CPP_LIB_DIR, where they lie. Linking these very files
# makes our module share the libggml that Python has loaded already.
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
          "import importlib.util as u; s = u.find_spec('llama_cpp'); print(s.submodule_search_locations[0] if s else '')"
  OUTPUT_VARIABLE LLAMA_CPP_PACKAGE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(LLAMA_CPP_PACKAGE STREQUAL "")
  message(FATAL_ERROR "llama-cpp-python is not installed for ${Python_EXECUTABLE}")
endif()
cmake_path(SET LLAMA_CPP_PACKAGE NORMALIZE "${LLAMA_CPP_PACKAGE}")
cmake_path(GET LLAMA_CPP_PACKAGE PARENT_PATH LLAMA_CPP_SITE)
set(LLAMA_CPP_LIB_DIR "${LLAMA_CPP_PACKAGE}/lib")
set(LLAMA_CPP_INCLUDE_DIR "${LLAMA_CPP_SITE}/include")
if(NOT EXISTS "${LLAMA_CPP_INCLUDE_DIR}/ggml-backend.h")
  message(FATAL_ERROR "the ggml headers are missing in ${LLAMA_CPP_INCLUDE_DIR}: install llama-cpp-python from its source package")
endif()

function(gannet_import_library target name)
  set(file "${LLAMA_CPP_LIB_DIR}/${CMAKE_SHARED_LIBRARY_PREFIX}${name}${CMAKE_SHARED_LIBRARY_SUFFIX}")
  if(NOT EXISTS "${file}")
    return()
  endif()
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${file}"
    INTERFACE_INCLUDE_DIRECTORIES "${LLAMA_CPP_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${LLAMA_CPP_INCLUDE_DIR}")
  if(WIN32)
    # Beside the libraries, where llama-cpp-python installs them; llama.cpp's own rules add the second folder.
    find_file(${target}_import_library "${name}.lib" PATHS "${LLAMA_CPP_LIB_DIR}" "${LLAMA_CPP_SITE}/lib"
              NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
    set_target_properties(${target} PROPERTIES IMPORTED_IMPLIB "${${target}_import_library}")
  endif()
endfunction()

gannet_import_library(ggml_base ggml-base)
gannet_import_library(ggml_cpu ggml-cpu)
gannet_import_library(ggml ggml)
gannet_import_library(llama llama)
