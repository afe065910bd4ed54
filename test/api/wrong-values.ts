/** For every kind of field the values that the contract does not allow, written by hand. */

export const NO_TEXT = [5, true, null, {}, ['x']]
export const TOO_LONG = 'x'.repeat(256)
export const NO_NUMBER = ['1000', '', true, null, {}, [1000]]
export const NO_BOOLEAN = ['true', 1, 0, null, {}]
export const NO_OBJECT = ['text', 5, true, null, []]

export const AMOUNT = [...NO_NUMBER, 1000.5, 499, 0, -500, 1_000_000_000_000, 1e300]
export const ANY_AMOUNT = [...NO_NUMBER, 1000.5, 0, -1, 1_000_000_000_000, 1e300]
export const PRICE = [...NO_NUMBER, 0.5, -1, 1_000_000_000_000]
export const NAME = [...NO_TEXT, '', '   ', TOO_LONG]
export const TEXT = [...NO_TEXT, TOO_LONG]
export const TAX_ID = [
  ...NO_TEXT,
  '',
  '5299822472',
  '529982247255',
  '529_982_247-25',
  'ABCDEFGHIJK',
  52998224725,
]
export const EMAIL = [
  ...NO_TEXT,
  '',
  'maria',
  'maria@',
  '@example.com',
  'ma ria@example.com',
  'a@b@example.com',
]
export const PHONE = [
  ...NO_TEXT,
  '',
  '119888888',
  '119888888888',
  '11/988888888',
  '+541198888888',
  11988888888,
]
export const POSTAL_CODE = [...NO_TEXT, '', '0131010', '013101000', '01310_100', 1310100]
export const LIFETIME = [...NO_NUMBER, 1.5, 0, -1, 31_536_001]
export const EXTERNAL_ID = [...NO_TEXT, '', TOO_LONG]
export const DESCRIPTION = [...NO_TEXT, 'a'.repeat(141), TOO_LONG]
export const URL = [
  ...NO_TEXT,
  '',
  'example.com',
  'ftp://example.com',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://',
  'https:///path',
  'https://exa mple.com',
  `https://a.example/${'x'.repeat(2048)}`,
]
export const STATUS = [...NO_TEXT, '', 'active', 'DELETED']
export const FREQUENCY = [5, true, {}, '', 'DAILY', 'monthly']
export const EVENTS = [
  'charge.paid',
  5,
  true,
  null,
  {},
  [],
  ['charge.nope'],
  ['Charge.Paid'],
  [5],
  [null],
]

export const DAY = [...NO_TEXT, '', 'today', '16/08/2026', '2026-02-30', '2026-08-16T12:00:00Z']
export const MOMENT = [
  ...NO_TEXT,
  '',
  'today',
  '2026-08-16',
  '2026-08-16T12:00:00',
  '2026-13-01T00:00:00Z',
  1_786_000_000_000,
]
export const COMMENT = [...NO_TEXT, 'x'.repeat(141)]
export const OTP = [
  ...NO_TEXT,
  '',
  '12345',
  '1234567',
  '12345a',
  ' 123456',
  '123 456',
  '123456\n',
  '１２３４５６',
  123456,
]

/** Optional text that is empty counts as absent, and so is not wrong. */
export const optional = (values: unknown[]) => values.filter((value) => value !== '')

export const notNull = (values: unknown[]) => values.filter((value) => value !== null)
