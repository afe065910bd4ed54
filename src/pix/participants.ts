/**
 * Names that people know the largest participants of the Pix scheme by, by their ISPB: the number
 * that the Banco Central identifies each by.
 */
const NAMES: Record<string, string> = {
  '00000000': 'Banco do Brasil',
  '00000208': 'BRB',
  '00315557': 'Unicred',
  '00360305': 'Caixa',
  '00416968': 'Inter',
  '01181521': 'Sicredi',
  '02038232': 'Sicoob',
  '04902979': 'Banco da Amazônia',
  '05463212': 'Ailos',
  '07237373': 'Banco do Nordeste',
  '08561701': 'PagBank',
  '09089356': 'Efí',
  '10398952': 'Cresol',
  '10573521': 'Mercado Pago',
  '16501555': 'Stone',
  '17184037': 'Mercantil',
  '18236120': 'Nubank',
  '19540550': 'Asaas',
  '20855875': 'Neon',
  '22896431': 'PicPay',
  '28127603': 'Banestes',
  '30306294': 'BTG Pactual',
  '31872495': 'C6 Bank',
  '33264668': 'XP',
  '37880206': 'Cora',
  '58160789': 'Safra',
  '59285411': 'PAN',
  '59588111': 'BV',
  '60701190': 'Itaú',
  '60746948': 'Bradesco',
  '60889128': 'Sofisa',
  '61186680': 'BMG',
  '62232889': 'Daycoval',
  '90400888': 'Santander',
  '92702067': 'Banrisul',
  '92894922': 'Original',
}

const END_TO_END_ID = /^E(\d{8})/

/** The payer's bank in an endToEndId: its ISPB, and its name if it is one of the largest. */
export function participantOf(endToEndId: string): { ispb: string; name: string | null } | null {
  const ispb = END_TO_END_ID.exec(endToEndId)?.[1]
  return ispb === undefined ? null : { ispb, name: NAMES[ispb] ?? null }
}
