// ggml's CPU functions, wherever they were loaded from.
//
// Builds of llama.cpp with one CPU library per processor generation pick it at run time, so nothing
// may link to it: the functions are looked up in the library that holds the registered CPU backend.
#pragma once

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace gannet {

struct CpuLibrary {
    ggml_backend_dev_t device = nullptr;
    ggml_backend_reg_t registry = nullptr;
    const ggml_type_traits_cpu* (*type_traits)(ggml_type) = nullptr;
    ggml_backend_set_n_threads_t set_n_threads = nullptr;
    ggml_backend_set_abort_callback_t set_abort_callback = nullptr;
};

// Looked up once. Throws std::runtime_error when this libggml is not the one we are written for.
const CpuLibrary& cpu_library();

}  // namespace gannet
