// Our ggml backend: registered once, then every llama.cpp context gets an instance of it.
//
// llama.cpp adds every device of type ACCEL to a context's scheduler before the CPU. An instance made
// while a StreamedModel is being set up (see Setup) takes that model's whole graph and runs it: single
// tokens through DecodePlan, the rest through WavePlan. Instances made at any other time support
// nothing, so models loaded the plain way in the same process are stock llama.cpp's.
#pragma once

#include "streamed_model.h"

namespace gannet {

// Registers the backend with ggml, once a process. Throws std::runtime_error when this libggml is not
// the one we are written for.
void register_backend();

// While it lives, contexts made by this process belong to the model. One at a time; the caller locks.
class Setup {
  public:
    explicit Setup(StreamedModel& model);
    ~Setup();
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;
};

// While it lives, llama.cpp does not read a mapped file ahead: it skips that on NUMA machines, and asks
// the CPU backend's registry, whose answer this replaces (design: docs/architecture.md).
class NoMapReadAhead {
  public:
    NoMapReadAhead();
    ~NoMapReadAhead();
    NoMapReadAhead(const NoMapReadAhead&) = delete;
    NoMapReadAhead& operator=(const NoMapReadAhead&) = delete;
};

}  // namespace gannet
