// Forms that ask for a passkey: the browser signs what the page asks for, and the form is sent with it.
"use strict";

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

async function register(options) {
  options.challenge = toBytes(options.challenge);
  options.user.id = toBytes(options.user.id);
  for (const known of options.excludeCredentials ?? []) known.id = toBytes(known.id);
  const made = await navigator.credentials.create({ publicKey: options });
  return {
    id: made.id,
    rawId: toText(made.rawId),
    type: made.type,
    response: {
      clientDataJSON: toText(made.response.clientDataJSON),
      attestationObject: toText(made.response.attestationObject),
    },
  };
}

async function sign(options) {
  options.challenge = toBytes(options.challenge);
  for (const known of options.allowCredentials ?? []) known.id = toBytes(known.id);
  const signed = await navigator.credentials.get({ publicKey: options });
  const { clientDataJSON, authenticatorData, signature, userHandle } = signed.response;
  return {
    id: signed.id,
    rawId: toText(signed.rawId),
    type: signed.type,
    response: {
      clientDataJSON: toText(clientDataJSON),
      authenticatorData: toText(authenticatorData),
      signature: toText(signature),
      userHandle: userHandle && toText(userHandle),
    },
  };
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  const ask = form.dataset.passkey === "register" ? register : sign;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      form.elements.passkey.value = JSON.stringify(await ask(JSON.parse(form.dataset.options)));
    } catch (error) {
      const problem = form.querySelector("[role=alert]");
      problem.textContent = error.name === "InvalidStateError"
        ? "This device has a passkey for your account already."
        : "No passkey was used. Try again, or use another way.";
      problem.hidden = false;
      return;
    }
    form.submit();
  });
}
