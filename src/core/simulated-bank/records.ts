/** What the simulated bank has recorded, for the pages that show its side. */
export { type AgreementRecord, findAgreement } from '../../provider/simulator/agreement-records.ts'
export { statusOf } from '../../provider/simulator/agreements.ts'
export {
  findByIds as findTransfers,
  latestOfPayers,
  type Transfer,
  transferContext,
} from '../../provider/simulator/records.ts'
