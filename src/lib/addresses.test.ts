import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hostFault, isLoopback, isPublic } from './addresses.ts'

/** First and last address of everything that is refused, and its neighbours that are not. */
const EDGES: [first: string, last: string, before: string | null, after: string | null][] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', null],
]

const EDGES_V6: typeof EDGES = [
  ['::', '1fff:ffff::', null, '2000::'],
  ['2001::', '2001:1ff:ffff::', '2000:ffff::', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
  ['2002::', '2002:ffff::', '2001:ffff::', '2003::'],
  ['3ffe::', '3ffe:ffff::', '3ffd:ffff::', null],
  ['3fff::', '3fff:fff:ffff::', null, '3fff:1000::'],
  ['4000::', 'ffff:ffff::', '3fff:ffff::', null],
]

test('reserved networks are refused from their first to their last address, and no more', () => {
  for (const [first, last, before, after] of [...EDGES, ...EDGES_V6]) {
    for (const address of [first, last]) assert.equal(isPublic(address), false, address)
    for (const address of [before, after])
      assert.equal(isPublic(address ?? '1.1.1.1'), true, address!)
  }
})

test('every special IPv6 form is refused, whatever IPv4 address it hides', () => {
  const forms = [
    '::',
    '::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '::8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b:1::1',
    '2002:808:808::1',
    '2001:0:808:808::1',
    '2001:10::1',
    '2001:20::1',
    '2001:2::1',
    '5f00::1',
    'fe80::1%eth0',
    '2606:4700::1%1',
    '0:0:0:0:0:0:0:1',
    'FE80::1',
  ]
  for (const form of forms) assert.equal(isPublic(form), false, form)
})

test('an IPv4 address and the same behind NAT64 are judged alike', () => {
  const byte = fc.nat(255)
  fc.assert(
    fc.property(fc.tuple(byte, byte, byte, byte), ([a, b, c, d]) => {
      const hex = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':')
      const address = `${a}.${b}.${c}.${d}`
      assert.equal(isPublic(`64:ff9b::${hex}`), isPublic(address))
      assert.equal(isPublic(`64:ff9b::${address}`), isPublic(address))
      assert.equal(isPublic(`::ffff:${address}`), false)
    }),
  )
  for (const [first, last] of EDGES) {
    assert.equal(isPublic(`64:ff9b::${first}`) || isPublic(`64:ff9b::${last}`), false, first)
  }
})

test('what is no address is not public', () => {
  for (const text of ['', 'localhost', '127.1', '1.1.1.1.', ' 1.1.1.1', '[2606:4700::1]', '::g']) {
    assert.equal(isPublic(text), false, text)
  }
})

test('a host is a public address or a name that could be public', () => {
  const fine = ['example.com', 'example.com.', 'a.b.example.com.br', '8.8.8.8', '[2606:4700::1111]']
  const local = ['localhost', 'x.localhost', 'printer.local', 'metadata.google.internal', 'intra']
  const odd = [
    '',
    '.',
    '..',
    '.local',
    'a..b',
    '.example.com',
    'nas.home.arpa',
    'localhost.',
    'x.lan.',
  ]
  const private_ = ['127.0.0.1', '127.0.0.1..', '[::1]', '[::ffff:7f00:1]', '169.254.169.254']
  for (const host of fine) assert.equal(hostFault(host), null, host)
  for (const host of [...local, ...odd])
    assert.equal(hostFault(host), 'must be a public name', host)
  for (const host of private_) {
    assert.equal(hostFault(host), 'must not be a private or reserved address', host)
  }
})

test('a host that leads to the reader’s own machine is known, however it is written', () => {
  const own = ['localhost', 'LOCALHOST', 'pix.localhost', 'localhost.', '127.0.0.1', '127.9.9.9']
  const forms = ['127.1', '0x7f.1', '2130706433', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]']
  for (const host of [...own, ...forms]) {
    assert.equal(isLoopback(new URL(`http://${host}:3000`).hostname), true, host)
  }
  const others = ['pix.example.com', 'localhost.example.com', 'mylocalhost', '10.0.0.1', '[::2]']
  for (const host of [...others, '128.0.0.1', '[2001:db8::1]']) {
    assert.equal(isLoopback(new URL(`http://${host}`).hostname), false, host)
  }
})
