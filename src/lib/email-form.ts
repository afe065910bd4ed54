/** The form of an e-mail address: one `@`, and a host with a dot. */
export const EMAIL_FORM = /^[^\s@<>"(),:;\\[\]]{1,64}@[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+$/
