//! Memory is taken from the control group that a run is in, and kept within its limit.

use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{Place, Ran};

const COUNT: [&str; 7] = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--threads", "1"];

/// A control group that goes away with the test.
struct Group {
    folder: PathBuf,
}

impl Group {
    /// A group with so many bytes of memory and no swap; the error says why there is none to be had
    /// here.
    fn new(name: &str, bytes: u64) -> Result<Group, String> {
        let (parent, limit, swap) =
            parent().ok_or("this process is in no control group of memory")?;
        let folder = parent.join(format!("gyrase-{name}-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let group = Group { folder };
        let limit = group.folder.join(limit);
        fs::write(&limit, bytes.to_string())
            .map_err(|error| format!("{}: {error}", limit.display()))?;
        // Not there on a kernel without swap.
        let _ = fs::write(group.folder.join(swap), "0");
        Ok(group)
    }

    /// Runs the program in the group, after `first`, which must succeed too.
    fn run(&self, place: &Place, first: &str, args: &[&str]) -> Ran {
        place.limited(
            &format!(
                "echo $$ > {}/cgroup.procs && {first}",
                self.folder.display()
            ),
            args,
        )
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An empty group that stays costs nothing.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Where a group can be made, the file of its limit and that of its swap. In version 2 it is made
/// beside our own, because a group with processes gives its children no limits.
fn parent() -> Option<(PathBuf, &'static str, &'static str)> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = |wanted: &str| {
        let mut groups = groups
            .lines()
            .filter_map(|line| line.split_once(':')?.1.split_once(':'));
        groups
            .find(|(controllers, _)| controllers.split(',').any(|name| name == wanted))
            .map(|(_, path)| &path[1..])
    };
    if let Some(path) = own("memory") {
        let folder = Path::new("/sys/fs/cgroup/memory").join(path);
        return Some((folder, "memory.limit_in_bytes", "memory.swappiness"));
    }
    let folder =
        Path::new("/sys/fs/cgroup").join(Path::new(own("")?).parent().unwrap_or(Path::new("")));
    Some((folder, "memory.max", "memory.swap.max"))
}

/// A group that binds: what needs twice its memory is killed in it.
fn binding_group(place: &Place, bytes: u64) -> Result<Group, String> {
    let group = Group::new("binds", bytes)?;
    let hold = format!("head -c {0} /dev/zero | tail -c {0} > /dev/null", 2 * bytes);
    match group.run(place, "true", &["--version"]) {
        ran if ran.code != 0 => Err(ran.stderr),
        _ if group.run(place, &hold, &["--version"]).code == 0 => {
            Err("its limit does not bind".to_owned())
        }
        _ => Ok(group),
    }
}

#[test]
fn the_limit_of_the_control_group_is_heeded() {
    let place = Place::new();
    place.simulate_much();
    let least: u64 = place.least_memory(1).parse().unwrap();
    let limit = least / 3 * 4;
    let group = match binding_group(&place, limit) {
        Ok(group) => group,
        Err(why) => return eprintln!("skipped, no control group of memory can be used: {why}"),
    };
    place.ok(&COUNT);
    let outside = place.read("o.gyk");
    fs::remove_file(place.path("o.gyk")).unwrap();

    let ran = group.run(
        &place,
        "true",
        &[&COUNT[..], &["--report", "r.json"]].concat(),
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        place.read("o.gyk") == outside,
        "the limit changes the result"
    );
    let report = place.json("r.json");
    let number = |part: &str, name: &str| report[part][name].as_u64().unwrap();
    let memory = number("parameters", "memory_bytes");
    assert!(least <= memory && memory <= limit, "{memory} of {limit}");
    assert!(number("bytes", "temporary") > 0, "{report}");
    assert_eq!(
        place.files(),
        ["g.fa", "o.gyk", "r.json", "r_1.fq", "r_2.fq"]
    );
}

#[test]
fn a_small_control_group_is_refused_before_the_first_byte() {
    let place = Place::new();
    place.simulate("2000", "2");
    let group = match Group::new("small", 48 << 20) {
        Ok(group) => group,
        Err(why) => return eprintln!("skipped, no control group of memory can be made: {why}"),
    };
    let before = place.files();
    place.check_failure(
        group.run(&place, "true", &COUNT),
        4,
        &["--memory", "needs at least"],
        &before,
    );
}
