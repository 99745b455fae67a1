-- report_sales tells what a customer has bought. It is from before anybody gave names to columns: the count is alone in
-- its set and becomes a value, the two prices become Price and Price2, and the sum goes by its place, Column4.
--
-- Result sets:
--   Orders: how many orders there are.
--   Products: each product with its price today, the price of the order, and how many were sold.
CREATE PROCEDURE shop.report_sales
    @customer_id INT
AS
BEGIN
    SET NOCOUNT ON;

    -- gen:result Orders
    -- vet:allow P3-named: it shows what a column without a name becomes
    SELECT COUNT(*) FROM shop.orders WHERE customer_id = @customer_id;

    -- gen:result Products
    -- vet:allow P3-named: it shows what a column without a name becomes
    SELECT p.title, p.price, l.price, SUM(l.quantity)
    FROM shop.orders AS o
    INNER JOIN shop.order_lines AS l ON l.order_id = o.order_id
    INNER JOIN shop.products AS p ON p.sku = l.sku
    WHERE o.customer_id = @customer_id
    GROUP BY p.title, p.price, l.price
    ORDER BY p.title;
END;
GO
