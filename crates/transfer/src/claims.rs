//! Which connection brings which file.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::key::PublicKey;

/// Names of files that connections bring now. A sender that comes back takes the place of a
/// connection of its own that does not know yet that it is broken.
#[derive(Default)]
pub(crate) struct Claims {
    held: Mutex<HashMap<String, Holder>>,
    freed: Condvar,
}

struct Holder {
    sender: PublicKey,
    socket: TcpStream,
}

/// Names that one connection has.
pub(crate) struct Claim<'c> {
    claims: &'c Claims,
    names: Vec<String>,
}

impl Claims {
    /// Takes names for the connection of a sender; `None` where another sender brings one of them.
    pub fn take(
        &self,
        names: Vec<String>,
        sender: PublicKey,
        socket: &TcpStream,
    ) -> Option<Claim<'_>> {
        let mut held = self.lock();
        while let Some(holder) = names.iter().find_map(|name| held.get(name)) {
            if holder.sender != sender {
                return None;
            }
            let _ = holder.socket.shutdown(Shutdown::Both);
            held = self.freed.wait(held).expect(UNPOISONED);
        }
        for name in &names {
            let socket = socket.try_clone().ok()?;
            held.insert(name.clone(), Holder { sender, socket });
        }
        let claims = self;
        Some(Claim { claims, names })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Holder>> {
        self.held.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "no thread panics while it holds the names";

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut held = self.claims.lock();
        for name in &self.names {
            held.remove(name);
        }
        self.claims.freed.notify_all();
    }
}
