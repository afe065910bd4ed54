-- What the page of a charge shows beside the charge itself.

-- When somebody first looked at the payment page of a charge, and when a link got its code.
create table charge_openings (
  company_id uuid not null,
  charge_id uuid not null,
  opened_at timestamptz,
  code_at timestamptz,
  -- An id that was made just before the event of the code, which is found from here on.
  before_event uuid,
  primary key (company_id, charge_id),
  check ((code_at is null) = (before_event is null))
);

-- Mails about a charge that people have sent from the dashboard.
create table charge_mails (
  company_id uuid not null,
  charge_id uuid not null,
  -- That of the mail, which is deleted some time after it was sent.
  id uuid not null,
  created_at timestamptz not null,
  primary key (company_id, charge_id, id)
);
