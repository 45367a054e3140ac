// The host twin of devices whose streams wait for no event: one that nobody has recorded is over.
#include "abi.h"
#include "backend_host.h"
#define follow(event) follow(backend::Event(0))
#include "gyrase_gpu.cu"
