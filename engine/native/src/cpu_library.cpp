#include "cpu_library.h"

#include <stdexcept>
#include <string>

#include "ggml_abi.h"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace gannet {
namespace {

// The address of `name` in the library that `inside` belongs to.
#ifdef _WIN32
void* neighbour(void* inside, const char* name) {
    HMODULE library = nullptr;
    const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExW(flags, reinterpret_cast<LPCWSTR>(inside), &library)) return nullptr;
    return reinterpret_cast<void*>(GetProcAddress(library, name));
}
#else
void* neighbour(void* inside, const char* name) {
    Dl_info info = {};
    if (dladdr(inside, &info) == 0) return nullptr;
    void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    void* symbol = dlsym(library, name);
    dlclose(library);  // the reference only: the library stays loaded
    return symbol;
}
#endif

[[noreturn]] void mismatch(const std::string& what) {
    throw std::runtime_error("this llama-cpp-python does not fit Gannet's engine (" + what +
                             "); install the pinned version with ./dev");
}

CpuLibrary look_up() {
    CpuLibrary cpu;
    cpu.device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (cpu.device == nullptr) mismatch("no CPU backend");
    cpu.registry = ggml_backend_dev_backend_reg(cpu.device);
    const abi::Registry* registry = abi::of(cpu.registry);
    if (registry->api_version != abi::kApiVersion) {
        mismatch("backend API version " + std::to_string(registry->api_version) + ", not " +
                 std::to_string(abi::kApiVersion));
    }
    const auto proc = [&](const char* name) {
        void* f = ggml_backend_reg_get_proc_address(cpu.registry, name);
        if (f == nullptr) mismatch(std::string("no ") + name);
        return f;
    };
    cpu.set_n_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(proc("ggml_backend_set_n_threads"));
    cpu.set_abort_callback =
        reinterpret_cast<ggml_backend_set_abort_callback_t>(proc("ggml_backend_set_abort_callback"));
    void* traits = neighbour(reinterpret_cast<void*>(registry->calls.get_name), "ggml_get_type_traits_cpu");
    if (traits == nullptr) mismatch("no ggml_get_type_traits_cpu");
    cpu.type_traits = reinterpret_cast<decltype(cpu.type_traits)>(traits);
    return cpu;
}

}  // namespace

const CpuLibrary& cpu_library() {
    static const CpuLibrary cpu = look_up();
    return cpu;
}

}  // namespace gannet
