/** Payments, invoices, subscriptions, accounts, shops and markets. */
export const MONEY = `
# money
payment, charge, transaction, pay, transfer~
pay, payment, charge, settle, checkout
charge, payment, bill, transaction, fee
transaction, payment, charge, order~, transfer
refund, money_back, reimburse, return, chargeback~, credit~, reverse
chargeback, dispute, contested_payment
dispute, chargeback, contest
invoice, bill, billing, receipt~, statement~
bill, invoice, charge
line_item, invoice_item, item, product_line
receipt, invoice, confirmation, proof_of_purchase
quote, estimate, offer, proposal
credit_note, refund, credit, adjustment
adjustment, refund, credit, correction
subscription, recurring_payment, plan, membership, renewal
membership, subscription, member
trial, free_period, test_period
discount, coupon, promo, promotion, promo_code, voucher, money_off, percent_off
coupon, discount, promo_code, voucher, code
gift_card, voucher
product, item, good, merchandise, article~, sku
catalog, products, inventory, items
price, cost, amount, fee, pricing
checkout, cart, basket, payment, purchase
cart, basket, checkout
order, purchase, sale
orders, purchases, sales
payment_link, checkout_link, pay_link
payment_method, card, credit_card, bank_account, saved_card
credit_card, card, payment_method
customer_portal, self_service, billing_portal, manage_subscription
balance, funds, owed, owe, outstanding, account_balance, money~, available_balance
owe, balance, outstanding, due, unpaid
unpaid, outstanding, overdue, open_invoices, due
payout, withdrawal, transfer, settlement
bank, account, banking
bank_transaction, bank_statement, transfer
bank_account, account, payment_method
expense, cost, spending, bill, purchase
spending, expense, cost, usage
revenue, income, sales, earnings, turnover, mrr
profit, income, earnings, margin, net
profit_and_loss, income_statement, p_l
balance_sheet, assets, liabilities, financial_position
trial_balance, accounts, ledger
accounting, bookkeeping, ledger, finance, xero~
ledger, journal, accounts, bookkeeping
tax, vat, gst, sales_tax, duty
currency, exchange_rate, money, foreign_exchange, fx
exchange_rate, currency, conversion, forex
aged_receivables, who_owes, debtors, receivables
supplier, vendor, provider
purchase_order, po, order
stock, inventory, availability, warehouse~
inventory, stock, products, quantity
shipping, delivery, shipment, postage, fulfillment
shipment, delivery, package, parcel, tracking
track_package, tracking, shipment, parcel
fulfillment, shipping, delivery
store, shop, ecommerce, storefront
shop, store, ecommerce, shopify~
ecommerce, shop, store, online_shop
stock_price, share_price, quote, ticker, market_price
stock, share, equity, ticker
stocks, shares, equities, market
crypto, cryptocurrency, bitcoin, coin, token, blockchain
bitcoin, crypto, btc
wallet, address, account, balance~
portfolio, holdings, positions, investments
loan, credit, mortgage, lending
insurance, policy, coverage
contract, agreement, document~
signature, sign, esign, docusign
legal, law, contract, compliance
`;
