import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { clientName, withoutPorts } from './client-name.ts'

const group = fc.integer({ min: 0, max: 0xffff })
const groups = fc.tuple(group, group, group, group, group, group, group, group)

/** Spellings of one IPv6 address: long, short, in capitals, with a zone. */
const spellings = (parts: number[]): string[] => {
  const long = parts.map((part) => part.toString(16).padStart(4, '0')).join(':')
  const short = new URL(`http://[${long}]`).hostname.slice(1, -1)
  return [long, short, short.toUpperCase(), `${short}%eth0`]
}

test('addresses of one /64 have one name, however they are written, and others have others', () => {
  const near = fc.tuple(groups, groups, fc.boolean()).map(([one, other, same]) => ({
    one,
    other: same ? [...one.slice(0, 4), ...other.slice(4)] : other,
  }))
  fc.assert(
    fc.property(near, ({ one, other }) => {
      fc.pre([one, other].every((parts) => parts.slice(0, 5).some((part) => part !== 0)))
      const network = new BlockList()
      network.addSubnet(spellings(one)[0]!, 64, 'ipv6')
      const isNear = network.check(spellings(other)[0]!, 'ipv6')
      const names = new Set(spellings(one).map(clientName))
      assert.equal(names.size, 1)
      for (const text of spellings(other)) assert.equal(names.has(clientName(text)), isNear, text)
    }),
  )
})

test('an IPv4 address is its own name, also as an IPv6 socket reports it', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.equal(clientName(address), address)
      assert.equal(clientName(`::ffff:${address}`), address)
      assert.equal(clientName(`::FFFF:${address}`), address)
      assert.equal(clientName(new URL(`http://[::ffff:${address}]`).hostname.slice(1, -1)), address)
    }),
  )
})

test('what is no address has one name, whatever a proxy put there', () => {
  for (const text of ['', undefined, 'unknown', '_hidden', '1.2.3', '::1::', 'x'.repeat(9000)]) {
    assert.equal(clientName(text), 'unknown')
  }
  assert.equal(clientName('::1'), '0:0:0:0::/64')
  assert.equal(clientName('2001:db8::1:0:0:1'), '2001:db8:0:0::/64')
})

test('addresses that a proxy has written with their port are those without it', () => {
  const written: Record<string, string> = {
    '1.2.3.4': '1.2.3.4',
    '1.2.3.4:5678': '1.2.3.4',
    '[::1]:443': '::1',
    '[2001:db8::7]': '2001:db8::7',
    '2001:db8::7': '2001:db8::7',
    '2001:db8::1:443': '2001:db8::1:443',
    '::ffff:1.2.3.4': '::ffff:1.2.3.4',
    '[::ffff:1.2.3.4]:80': '::ffff:1.2.3.4',
    unknown: 'unknown',
    '1.2.3.4:x': '1.2.3.4:x',
  }
  for (const [text, address] of Object.entries(written)) {
    assert.equal(withoutPorts(text), address)
    assert.equal(withoutPorts(`10.0.0.1 ,${text},${text}`), `10.0.0.1, ${address}, ${address}`)
  }
})
