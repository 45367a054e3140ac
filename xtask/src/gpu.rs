//! `cargo xtask gpu`: the library for GPUs, made by CUDA's compiler, with or without a GPU here.
//! `cargo xtask gpu-test`: that library tested and measured, on a machine with a GPU.

use std::env;
use std::path::{Path, PathBuf};

use crate::{Result, python, steps};

/// CUDA's compiler and what it takes, as Python packages. A driver runs the machine code of every
/// minor version, but PTX of its own and older ones only: so this is the oldest that knows all GPUs
/// below.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-runtime==13.0.96",
];

/// The GPUs that get machine code.
const GPUS: [&str; 7] = ["75", "80", "86", "89", "90", "100", "120"];

/// What all GPUs that are not among them, and are newer, translate for themselves.
const PTX: &str = "90";

/// The variable that names the library.
const LIBRARY: &str = "GYRASE_GPU";

/// Makes the library.
pub fn build() -> Result<()> {
    let made = make()?;
    println!("{}", made.display());
    Ok(())
}

/// Tests the library that the environment names, or one that is made, and measures it; `args` go to
/// `bench/gpu`.
pub fn test(args: &[String]) -> Result<()> {
    let library = match env::var_os(LIBRARY) {
        // Tests run elsewhere.
        Some(named) => std::fs::canonicalize(&named)
            .map_err(|error| format!("{LIBRARY} names {}: {error}", named.display()))?,
        None => make()?,
    };
    for tests in [
        &["-p", "gyrase-gpu"][..],
        &["-p", "gyrase-gossip", "--lib", "execute::"],
        &["-p", "gyrase-count", "--lib", "feeder::"],
        &["-p", "gyrase-classify", "--test", "classify", "gpu::"],
        &["-p", "gyrase", "--test", "end_to_end", "gpu::"],
    ] {
        let mut cargo = steps::cargo(&[&["test"], tests].concat());
        cargo.env(LIBRARY, &library);
        steps::succeed(cargo, &format!("tests of {} on the GPU", tests[1]))?;
    }
    let build = steps::cargo(&["build", "--release", "-p", "gyrase"]);
    steps::succeed(build, "the program")?;
    let examples = ["gpu_rate", "build_rate"];
    let build: Vec<&str> = examples
        .iter()
        .flat_map(|name| ["--example", name])
        .collect();
    let build = [&["build", "--release", "-p", "gyrase-classify"], &build[..]].concat();
    steps::succeed(steps::cargo(&build), "what measures the GPU alone")?;
    let program = steps::target().join("release/gyrase");
    let [rate, build_rate] =
        examples.map(|name| steps::target().join("release/examples").join(name));
    let mut bench = steps::command("python3", &["bench/gpu"]);
    bench.args([&program, &library]).arg(folder().join("work"));
    bench.arg("--rate").arg(rate);
    bench.arg("--build-rate").arg(build_rate);
    bench
        .args(["--results", "bench/results/gpu.tsv"])
        .args(args);
    steps::succeed(bench, "bench/gpu")
}

fn folder() -> PathBuf {
    steps::target().join("gpu")
}

/// The library, made of the sources as they are.
fn make() -> Result<PathBuf> {
    let folder = folder();
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let cuda = cuda(&folder)?;
    let (object, library) = (folder.join("gyrase_gpu.o"), folder.join("libgyrase_gpu.so"));
    compile(&cuda, &object)?;
    link(&cuda, &object, &library)?;
    Ok(library)
}

/// Where CUDA is: what `CUDA_HOME` names, or Python's packages, which need no GPU and no driver.
fn cuda(folder: &Path) -> Result<PathBuf> {
    if let Some(named) = env::var_os("CUDA_HOME").map(PathBuf::from) {
        return match named.join("bin/nvcc").is_file() {
            true => Ok(named),
            false => Err(format!("CUDA_HOME: no bin/nvcc in {}", named.display())),
        };
    }
    let environment = folder.join("cuda");
    let python = python::environment(&environment, false)?;
    python::install(&python, &PACKAGES)?;
    let libraries = std::fs::read_dir(environment.join("lib"));
    let libraries = libraries.map_err(|error| error.to_string())?;
    let of_python = libraries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut homes = of_python.map(|of_python| of_python.join("site-packages/nvidia/cu13"));
    homes
        .find(|home| home.join("bin/nvcc").is_file())
        .ok_or_else(|| "the packages of CUDA have no nvcc".into())
}

fn compile(cuda: &Path, object: &Path) -> Result<()> {
    let mut nvcc = steps::command(&cuda.join("bin/nvcc").to_string_lossy(), &[]);
    // As `rustc` on the processor, it is not to make one operation of two.
    nvcc.args(["-O3", "-std=c++17", "--fmad=false", "-cudart", "static"]);
    nvcc.args([
        "-Xcompiler",
        "-fPIC,-fvisibility=hidden,-Wall",
        "--threads",
        "0",
    ]);
    for gpu in GPUS {
        nvcc.arg("-gencode");
        nvcc.arg(format!("arch=compute_{gpu},code=sm_{gpu}"));
    }
    nvcc.arg("-gencode");
    nvcc.arg(format!("arch=compute_{PTX},code=compute_{PTX}"));
    nvcc.arg("-I").arg(cuda.join("include/cccl"));
    nvcc.args(["-c", "crates/gpu/device/gyrase_gpu.cu", "-o"]);
    nvcc.arg(object);
    steps::succeed(nvcc, "kernels for all GPUs")
}

/// Links what CUDA and C++ need into the library: it is loaded where neither is installed.
fn link(cuda: &Path, object: &Path, library: &Path) -> Result<()> {
    let mut linker = steps::command("c++", &["-shared", "-o"]);
    linker.arg(library).arg(object);
    for folder in ["lib", "lib64"] {
        linker.arg("-L").arg(cuda.join(folder));
    }
    linker.args(["-lcudart_static", "-static-libstdc++", "-static-libgcc"]);
    linker.args(["-Wl,--exclude-libs,ALL", "-Wl,--no-undefined", "-s"]);
    linker.arg("-Wl,--version-script=crates/gpu/device/exports.map");
    linker.args(["-ldl", "-lrt", "-lpthread"]);
    steps::succeed(linker, "libgyrase_gpu.so")
}
