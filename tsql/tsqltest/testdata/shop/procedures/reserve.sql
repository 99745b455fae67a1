-- Takes one piece out of the stock for as long as the transaction lasts.
CREATE OR ALTER PROCEDURE dbo.reserve
    @sku VARCHAR(20)
AS
SET NOCOUNT ON;
UPDATE dbo.products
SET stock = stock - 1
WHERE sku = @sku
  AND stock > 0;
SELECT p.stock
FROM dbo.products AS p
WHERE p.sku = @sku;
