// The structs a backend of ours has to fill in for libggml, declared by us.
//
// ggml registers backends at run time through an interface of function tables (API version 2), whose
// header is not among the installed ones. These are layouts, checked in two ways: the registry's own
// api_version must be kApiVersion, and llama-cpp-python is pinned to one exact version. Members that
// we never set or call are opaque pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ggml-backend.h"
#include "ggml.h"

namespace gannet::abi {

constexpr int kApiVersion = 2;
using Unused = void (*)();

struct BufferTypeCalls {
    const char* (*get_name)(ggml_backend_buffer_type_t);
    ggml_backend_buffer_t (*alloc_buffer)(ggml_backend_buffer_type_t, std::size_t);
    std::size_t (*get_alignment)(ggml_backend_buffer_type_t);
    Unused get_max_size;
    Unused get_alloc_size;
    bool (*is_host)(ggml_backend_buffer_type_t);
};

struct BufferType {
    BufferTypeCalls calls;
    ggml_backend_dev_t device;
    void* context;
};

struct BufferCalls {
    void (*free_buffer)(ggml_backend_buffer_t);
    void* (*get_base)(ggml_backend_buffer_t);
    ggml_status (*init_tensor)(ggml_backend_buffer_t, ggml_tensor*);
    void (*memset_tensor)(ggml_backend_buffer_t, ggml_tensor*, std::uint8_t, std::size_t, std::size_t);
    void (*set_tensor)(ggml_backend_buffer_t, ggml_tensor*, const void*, std::size_t, std::size_t);
    void (*get_tensor)(ggml_backend_buffer_t, const ggml_tensor*, void*, std::size_t, std::size_t);
    Unused set_tensor_2d;
    Unused get_tensor_2d;
    Unused cpy_tensor;
    void (*clear)(ggml_backend_buffer_t, std::uint8_t);
    Unused reset;
};

struct Buffer {
    BufferCalls calls;
    ggml_backend_buffer_type_t type;
    void* context;
    std::size_t size;
    int usage;
};

struct BackendCalls {
    const char* (*get_name)(ggml_backend_t);
    void (*free)(ggml_backend_t);
    Unused transfers[5];  // asynchronous set, get, 2d set, 2d get, copy
    Unused synchronize;
    Unused plans[4];  // create, free, update, compute
    ggml_status (*graph_compute)(ggml_backend_t, ggml_cgraph*);
    Unused event_record;
    Unused event_wait;
    Unused graph_optimize;
};

struct Backend {
    ggml_guid_t guid;
    BackendCalls calls;
    ggml_backend_dev_t device;
    void* context;
};

struct DeviceCalls {
    const char* (*get_name)(ggml_backend_dev_t);
    const char* (*get_description)(ggml_backend_dev_t);
    void (*get_memory)(ggml_backend_dev_t, std::size_t*, std::size_t*);
    enum ggml_backend_dev_type (*get_type)(ggml_backend_dev_t);
    void (*get_props)(ggml_backend_dev_t, ggml_backend_dev_props*);
    ggml_backend_t (*init_backend)(ggml_backend_dev_t, const char*);
    ggml_backend_buffer_type_t (*get_buffer_type)(ggml_backend_dev_t);
    Unused get_host_buffer_type;
    Unused buffer_from_host_ptr;
    bool (*supports_op)(ggml_backend_dev_t, const ggml_tensor*);
    bool (*supports_buft)(ggml_backend_dev_t, ggml_backend_buffer_type_t);
    Unused offload_op;
    Unused events[3];  // new, free, synchronize
};

struct Device {
    DeviceCalls calls;
    ggml_backend_reg_t registry;
    void* context;
};

struct RegistryCalls {
    const char* (*get_name)(ggml_backend_reg_t);
    std::size_t (*get_device_count)(ggml_backend_reg_t);
    ggml_backend_dev_t (*get_device)(ggml_backend_reg_t, std::size_t);
    void* (*get_proc_address)(ggml_backend_reg_t, const char*);
};

struct Registry {
    int api_version;
    RegistryCalls calls;
    void* context;
};

// ggml's handles are pointers to these layouts.
inline BufferType* of(ggml_backend_buffer_type_t h) {
    return reinterpret_cast<BufferType*>(h);
}
inline Buffer* of(ggml_backend_buffer_t h) {
    return reinterpret_cast<Buffer*>(h);
}
inline Backend* of(ggml_backend_t h) {
    return reinterpret_cast<Backend*>(h);
}
inline Device* of(ggml_backend_dev_t h) {
    return reinterpret_cast<Device*>(h);
}
inline Registry* of(ggml_backend_reg_t h) {
    return reinterpret_cast<Registry*>(h);
}
inline ggml_backend_buffer_type_t handle(BufferType* p) {
    return reinterpret_cast<ggml_backend_buffer_type_t>(p);
}
inline ggml_backend_t handle(Backend* p) {
    return reinterpret_cast<ggml_backend_t>(p);
}
inline ggml_backend_dev_t handle(Device* p) {
    return reinterpret_cast<ggml_backend_dev_t>(p);
}
inline ggml_backend_reg_t handle(Registry* p) {
    return reinterpret_cast<ggml_backend_reg_t>(p);
}

// Exported by libggml-base; its header is the one that is not installed.
extern "C" ggml_backend_buffer_t ggml_backend_buffer_init(ggml_backend_buffer_type_t type, BufferCalls calls,
                                                          void* context, std::size_t size);

}  // namespace gannet::abi
