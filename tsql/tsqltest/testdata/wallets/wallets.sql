-- Wallets, from which nobody takes more coins than there are.
CREATE TABLE dbo.wallets (
    owner VARCHAR(20) NOT NULL CONSTRAINT pk_wallets PRIMARY KEY,
    coins INT         NOT NULL
);
INSERT INTO dbo.wallets (owner, coins) VALUES ('ada', 100);
GO
CREATE PROCEDURE dbo.withdraw @owner VARCHAR(20), @coins INT
AS
SET XACT_ABORT ON;
DECLARE @has INT;
BEGIN TRANSACTION;
SELECT @has = coins FROM dbo.wallets WITH (UPDLOCK) WHERE owner = @owner;
IF @has >= @coins
    UPDATE dbo.wallets SET coins = @has - @coins WHERE owner = @owner;
COMMIT;
GO
CREATE PROCEDURE dbo.deposit @owner VARCHAR(20), @coins INT
AS
UPDATE dbo.wallets SET coins = coins + @coins WHERE owner = @owner;
