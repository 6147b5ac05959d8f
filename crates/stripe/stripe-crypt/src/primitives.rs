//! Primitives for `snow`: X25519 of `curve25519-dalek`; ChaCha20-Poly1305, SHA-256 and random bytes
//! of `ring`.
//!
//! `ring` has no static private keys, and the resolvers of `snow` do not zero private keys.
//!
//! Source: Noise, revision 34, sections 4 and 12.

use curve25519_dalek::montgomery::MontgomeryPoint;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{Context, SHA256};
use ring::rand::{SecureRandom, SystemRandom};
use snow::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};
use zeroize::Zeroizing;

use crate::keys::{KEY_BYTES, NoRandomness};

pub(crate) const CHECK_BYTES: usize = 16;

pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    #[cfg(feature = "told-randomness")]
    if crate::seeded::fill(bytes) {
        return Ok(());
    }
    SystemRandom::new().fill(bytes).map_err(|_| NoRandomness)
}

pub(crate) fn cipher(key: &[u8; KEY_BYTES]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).expect("a key of that length"))
}

pub(crate) struct Primitives;

impl CryptoResolver for Primitives {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Machine))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::<X25519>::default() as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        matches!(choice, HashChoice::SHA256).then(|| Box::<Sha256>::default() as Box<dyn Hash>)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        matches!(choice, CipherChoice::ChaChaPoly)
            .then(|| Box::<ChaChaPoly>::default() as Box<dyn Cipher>)
    }
}

struct Machine;

impl Random for Machine {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        fill(dest).map_err(|NoRandomness| Error::Rng)
    }
}

#[derive(Default)]
struct X25519 {
    private: Zeroizing<[u8; KEY_BYTES]>,
    public: [u8; KEY_BYTES],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        KEY_BYTES
    }

    fn priv_len(&self) -> usize {
        KEY_BYTES
    }

    fn set(&mut self, privkey: &[u8]) {
        self.private.copy_from_slice(privkey);
        self.public = MontgomeryPoint::mul_base_clamped(*self.private).to_bytes();
    }

    fn generate(&mut self, rng: &mut dyn Random) -> Result<(), Error> {
        let mut private = Zeroizing::new([0; KEY_BYTES]);
        rng.try_fill_bytes(&mut *private)?;
        self.set(&*private);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &*self.private
    }

    fn dh(&self, pubkey: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let public = pubkey.first_chunk().ok_or(Error::Dh)?;
        let shared = Zeroizing::new(MontgomeryPoint(*public).mul_clamped(*self.private).to_bytes());
        out.get_mut(..KEY_BYTES).ok_or(Error::Dh)?.copy_from_slice(&*shared);
        Ok(())
    }
}

struct Sha256(Context);

impl Default for Sha256 {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Hash for Sha256 {
    fn name(&self) -> &'static str {
        "SHA256"
    }

    fn block_len(&self) -> usize {
        SHA256.block_len()
    }

    fn hash_len(&self) -> usize {
        SHA256.output_len()
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn input(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn result(&mut self, out: &mut [u8]) {
        let digest = std::mem::take(self).0.finish();
        out[..SHA256.output_len()].copy_from_slice(digest.as_ref());
    }
}

#[derive(Default)]
struct ChaChaPoly(Option<LessSafeKey>);

impl ChaChaPoly {
    fn key(&self) -> &LessSafeKey {
        self.0.as_ref().expect("a key is set before it is used")
    }

    /// Converts a message number to a nonce (Noise, section 12.3).
    fn nonce(number: u64) -> Nonce {
        let mut bytes = [0; NONCE_LEN];
        bytes[4..].copy_from_slice(&number.to_le_bytes());
        Nonce::assume_unique_for_key(bytes)
    }
}

impl Cipher for ChaChaPoly {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; KEY_BYTES]) {
        self.0 = Some(cipher(key));
    }

    fn encrypt(&self, nonce: u64, authtext: &[u8], plaintext: &[u8], out: &mut [u8]) -> usize {
        let (sealed, behind) = out.split_at_mut(plaintext.len());
        sealed.copy_from_slice(plaintext);
        let (nonce, aad) = (Self::nonce(nonce), Aad::from(authtext));
        let check = self.key().seal_in_place_separate_tag(nonce, aad, sealed);
        behind[..CHECK_BYTES].copy_from_slice(check.expect("it is short").as_ref());
        sealed.len() + CHECK_BYTES
    }

    fn decrypt(
        &self,
        nonce: u64,
        authtext: &[u8],
        ciphertext: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let mut opened = Zeroizing::new(ciphertext.to_vec());
        let (nonce, aad) = (Self::nonce(nonce), Aad::from(authtext));
        let plain =
            self.key().open_in_place(nonce, aad, &mut opened).map_err(|_| Error::Decrypt)?;
        out.get_mut(..plain.len()).ok_or(Error::Decrypt)?.copy_from_slice(plain);
        Ok(plain.len())
    }
}
