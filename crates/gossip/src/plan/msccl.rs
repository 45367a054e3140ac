//! Plans as algorithms of MSCCL, the interpreter of collectives in NCCL and RCCL, as XML.
//!
//! Each device has a thread block that copies what stays, and for each other device that it sends
//! to, or receives from, one that does so in the order of the plan. A send that hands on what came
//! from elsewhere names the step that brings it (`depid`, `deps`).

use gyrase_picture::escape;

use super::TransferPlan;
use crate::collective::Collective;
use crate::error::GossipError;
use crate::transfers::{Sizes, Transfer, Transfers};

/// What the interpreter has room for in a thread block, and at once.
const MOST_STEPS: usize = 256;
const MOST_CHUNKS: usize = 72;

/// A place in the buffers of a device: input `i`, output `o` or scratch `s`, and the chunk there.
type Place = (char, usize);

/// A step of a thread block.
struct Step {
    kind: &'static str,
    from: Place,
    to: Place,
    count: usize,
    /// The thread block and the step that it waits for.
    after: Option<(usize, usize)>,
    /// Whether another one waits for it.
    awaited: bool,
}

/// A thread block: the device that it sends to, or receives from, and what it does.
#[derive(Default)]
struct Block {
    send: Option<usize>,
    receive: Option<usize>,
    steps: Vec<Step>,
}

/// What is made of a plan.
struct Algorithm<'a> {
    plan: &'a TransferPlan,
    devices: Vec<Vec<Block>>,
    scratch: Vec<usize>,
    /// Where each transfer puts its chunks, and the block and step that receive it.
    landed: Vec<(Place, (usize, usize))>,
}

impl TransferPlan {
    /// The plan as an algorithm of MSCCL. All-to-all and broadcast replace those of NCCL; scatter
    /// and gather, which NCCL lacks, are of the kind `custom`.
    ///
    /// # Errors
    /// MSCCL has no room for so many steps of a thread block, or for so many chunks at once.
    pub fn to_msccl(&self, name: &str) -> Result<String, GossipError> {
        let chunks = self.chunks as u64;
        let traffic = Transfers::new(self, &Sizes::each(self.collective, self.devices, chunks));
        let mut algorithm = Algorithm {
            plan: self,
            devices: (0..self.devices).map(|_| Vec::new()).collect(),
            scratch: vec![0; self.devices],
            landed: Vec::new(),
        };
        algorithm.stay();
        traffic
            .transfers()
            .iter()
            .for_each(|transfer| algorithm.transfer(transfer));
        algorithm.checked()?;
        Ok(algorithm.xml(name))
    }

    /// Chunks of the input and of the output of a device.
    fn buffers(&self, device: usize) -> (usize, usize) {
        let (all, one) = (self.devices * self.chunks, self.chunks);
        let at_main = |many: usize, main: usize| if device == main { many } else { 0 };
        match self.collective {
            Collective::AllToAll => (all, all),
            Collective::Scatter { main } => (at_main(all, main), one),
            Collective::Gather { main } => (one, at_main(all, main)),
            Collective::Broadcast { main } => (at_main(one, main), one),
        }
    }

    /// Where a chunk of a message is at first.
    fn input(&self, target: usize, chunk: usize) -> Place {
        let first = match self.collective {
            Collective::AllToAll | Collective::Scatter { .. } => target * self.chunks,
            _ => 0,
        };
        ('i', first + chunk)
    }

    /// Where it is at the end.
    fn output(&self, source: usize, chunk: usize) -> Place {
        let first = match self.collective {
            Collective::AllToAll | Collective::Gather { .. } => source * self.chunks,
            _ => 0,
        };
        ('o', first + chunk)
    }
}

impl Algorithm<'_> {
    /// The block of a device for another one.
    fn block(&mut self, device: usize, send: Option<usize>, receive: Option<usize>) -> usize {
        let blocks = &mut self.devices[device];
        let same = |block: &Block| (block.send, block.receive) == (send, receive);
        blocks.iter().position(same).unwrap_or_else(|| {
            blocks.push(Block {
                send,
                receive,
                steps: Vec::new(),
            });
            blocks.len() - 1
        })
    }

    /// Copies what devices have for themselves, as many chunks at a time as there is room for.
    fn stay(&mut self) {
        let own = self.plan.collective.messages(self.plan.devices);
        for (device, _) in own.filter(|(source, target)| source == target) {
            let block = self.block(device, None, None);
            for first in (0..self.plan.chunks).step_by(MOST_CHUNKS) {
                let count = MOST_CHUNKS.min(self.plan.chunks - first);
                let step = Step {
                    kind: "cpy",
                    from: self.plan.input(device, first),
                    to: self.plan.output(device, first),
                    count,
                    after: None,
                    awaited: false,
                };
                self.devices[device][block].steps.push(step);
            }
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        let (first, count) = (transfer.chunks.start, transfer.chunks.len());
        let (from, after) = match transfer.after {
            None => (self.plan.input(transfer.target, first), None),
            Some(before) => {
                let (place, (block, step)) = self.landed[before];
                self.devices[transfer.from][block].steps[step].awaited = true;
                (place, Some((block, step)))
            }
        };
        let to = match transfer.arrives() {
            true => self.plan.output(transfer.source, first),
            false => {
                self.scratch[transfer.to] += count;
                ('s', self.scratch[transfer.to] - count)
            }
        };
        let step = |kind, after| Step {
            kind,
            from,
            to,
            count,
            after,
            awaited: false,
        };
        let block = self.block(transfer.from, Some(transfer.to), None);
        self.devices[transfer.from][block]
            .steps
            .push(step("s", after));
        let block = self.block(transfer.to, None, Some(transfer.from));
        let steps = &mut self.devices[transfer.to][block].steps;
        steps.push(step("r", None));
        self.landed.push((to, (block, steps.len() - 1)));
    }

    fn checked(&self) -> Result<(), GossipError> {
        let blocks = || self.devices.iter().flatten();
        let steps = blocks().map(|block| block.steps.len()).max().unwrap_or(0);
        let chunks = blocks()
            .flat_map(|block| &block.steps)
            .map(|step| step.count);
        let chunks = chunks.max().unwrap_or(0);
        if steps > MOST_STEPS || chunks > MOST_CHUNKS {
            let what = format!(
                "MSCCL has room for {MOST_STEPS} transfers between two devices and for \
                 {MOST_CHUNKS} chunks in each; the plan has {steps} and {chunks}: plan with fewer \
                 chunks"
            );
            return Err(GossipError::Request { what });
        }
        Ok(())
    }

    fn xml(&self, name: &str) -> String {
        let plan = self.plan;
        let kind = match plan.collective {
            Collective::AllToAll => "alltoall",
            Collective::Broadcast { .. } => "broadcast",
            Collective::Scatter { .. } | Collective::Gather { .. } => "custom",
        };
        let sizes = (0..plan.devices).map(|device| plan.buffers(device));
        let most = sizes
            .map(|(input, output)| input.max(output))
            .max()
            .unwrap_or(0);
        let mut text = format!(
            "<algo name=\"{}\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{most}\" \
             ngpus=\"{}\" coll=\"{kind}\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" \
             maxBytes=\"0\">\n",
            escape(name),
            plan.devices
        );
        for (device, blocks) in self.devices.iter().enumerate() {
            let (input, output) = plan.buffers(device);
            let scratch = self.scratch[device];
            text += &format!(
                "  <gpu id=\"{device}\" i_chunks=\"{input}\" o_chunks=\"{output}\" \
                 s_chunks=\"{scratch}\">\n"
            );
            blocks
                .iter()
                .enumerate()
                .for_each(|(id, block)| block.write(id, &mut text));
            text += "  </gpu>\n";
        }
        text + "</algo>\n"
    }
}

impl Block {
    fn write(&self, id: usize, text: &mut String) {
        let peer = |peer: Option<usize>| peer.map_or("-1".to_owned(), |peer| peer.to_string());
        *text += &format!(
            "    <tb id=\"{id}\" send=\"{}\" recv=\"{}\" chan=\"0\">\n",
            peer(self.send),
            peer(self.receive)
        );
        for (number, step) in self.steps.iter().enumerate() {
            let (block, after) = match step.after {
                Some((block, step)) => (block.to_string(), step.to_string()),
                None => ("-1".to_owned(), "-1".to_owned()),
            };
            *text += &format!(
                "      <step s=\"{number}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" \
                 dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" depid=\"{block}\" deps=\"{after}\" \
                 hasdep=\"{}\"/>\n",
                step.kind,
                step.from.0,
                step.from.1,
                step.to.0,
                step.to.1,
                step.count,
                u8::from(step.awaited)
            );
        }
        *text += "    </tb>\n";
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::*;
    use crate::planner::{Config, Method, plan};
    use gyrase_work::Progress;

    fn made(name: &str, collective: Collective, chunks: usize) -> TransferPlan {
        let config = Config {
            topology: name.parse().unwrap(),
            collective,
            method: Method::Flow,
            chunks: Some(chunks),
            sizes: None,
        };
        plan(&config, &Progress::default()).unwrap().plan
    }

    fn value<'a>(line: &'a str, name: &str) -> &'a str {
        let from = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        line[from..].split('"').next().unwrap()
    }

    fn number(line: &str, name: &str) -> i64 {
        value(line, name).parse().unwrap()
    }

    /// A device, and one of its chunks or peers.
    type Chunk = (i64, i64);

    /// What an interpreter does with the file: the contents of all buffers at the end, by device,
    /// buffer and chunk. An input chunk is known by its device and number.
    fn interpreted(xml: &str) -> BTreeMap<(i64, char, i64), Chunk> {
        let mut memory = BTreeMap::new();
        let (mut device, mut block) = (0, (0, 0, 0));
        let mut blocks: BTreeMap<(i64, i64), (Chunk, VecDeque<&str>)> = BTreeMap::new();
        for line in xml.lines() {
            if line.contains("<gpu") {
                device = number(line, "id");
                for chunk in 0..number(line, "i_chunks") {
                    memory.insert((device, 'i', chunk), (device, chunk));
                }
            } else if line.contains("<tb") {
                block = (
                    number(line, "id"),
                    number(line, "send"),
                    number(line, "recv"),
                );
            } else if line.contains("<step") {
                let new = || ((block.1, block.2), VecDeque::new());
                blocks
                    .entry((device, block.0))
                    .or_insert_with(new)
                    .1
                    .push_back(line);
            }
        }
        let mut wires: BTreeMap<(i64, i64), VecDeque<Vec<Chunk>>> = BTreeMap::new();
        let mut done: BTreeMap<(i64, i64), i64> = BTreeMap::new();
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for (&(device, id), ((send, receive), steps)) in &mut blocks {
                let Some(&line) = steps.front() else { continue };
                let (awaited, step) = (number(line, "depid"), number(line, "deps"));
                if awaited >= 0
                    && done
                        .get(&(device, awaited))
                        .is_none_or(|&done| done <= step)
                {
                    continue;
                }
                let places = |buffer: &str, first: &str| {
                    let buffer = value(line, buffer).chars().next().unwrap();
                    let (first, count) = (number(line, first), number(line, "cnt"));
                    (first..first + count).map(move |chunk| (device, buffer, chunk))
                };
                let read = |memory: &BTreeMap<_, _>| {
                    places("srcbuf", "srcoff")
                        .map(|place| memory[&place])
                        .collect::<Vec<_>>()
                };
                let chunks = match value(line, "type") {
                    "s" => {
                        wires
                            .entry((device, *send))
                            .or_default()
                            .push_back(read(&memory));
                        None
                    }
                    "cpy" => Some(read(&memory)),
                    _ => match wires.entry((*receive, device)).or_default().pop_front() {
                        None => continue,
                        chunks => chunks,
                    },
                };
                memory.extend(places("dstbuf", "dstoff").zip(chunks.into_iter().flatten()));
                *done.entry((device, id)).or_default() += 1;
                steps.pop_front();
                moved = true;
            }
        }
        assert!(
            blocks.values().all(|(_, steps)| steps.is_empty()),
            "blocks wait for ever"
        );
        memory
    }

    #[test]
    fn an_interpreter_moves_every_chunk_to_its_target() {
        for (collective, chunks) in [
            (Collective::AllToAll, 3),
            (Collective::Scatter { main: 2 }, 6),
            (Collective::Gather { main: 1 }, 6),
            (Collective::Broadcast { main: 0 }, 4),
        ] {
            let plan = made("dgx-1", collective, chunks);
            let memory = interpreted(&plan.to_msccl("t").unwrap());
            for (source, target) in collective.messages(8) {
                for chunk in 0..chunks {
                    let (input, output) = (plan.input(target, chunk), plan.output(source, chunk));
                    let found = memory[&(target as i64, 'o', output.1 as i64)];
                    assert_eq!(found, (source as i64, input.1 as i64), "{collective}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let error = made("ring-8", Collective::AllToAll, 60)
            .to_msccl("t")
            .unwrap_err();
        assert!(error.to_string().contains("256 transfers"), "{error}");
    }
}
