/** The schemas of the bodies that scenarios send. They load slowly, and only --set needs them. */
export { NewLink, NewPixCharge } from '../../core/charges/view.ts'
export { NewCustomer } from '../../core/customers/view.ts'
export { NewDispute } from '../../core/disputes/view.ts'
export { NewProduct } from '../../core/products/view.ts'
export { NewBankReturn, NewRefund } from '../../core/refunds/view.ts'
export { BankPayment, KeyPayment } from '../../core/simulated-bank/view.ts'
export { NewWebhook } from '../../core/webhooks/view.ts'
export { NewWithdrawal } from '../../core/withdrawals/view.ts'
