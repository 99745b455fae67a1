-- The tables of a small shop.
CREATE SCHEMA shop;
GO

CREATE TABLE shop.customers (
    customer_id INT           IDENTITY (1, 1) NOT NULL,
    email       VARCHAR(254)  NOT NULL,
    full_name   NVARCHAR(100) NOT NULL,
    note        NVARCHAR(MAX) NULL, -- for the people at the counter
    created_at  DATETIME2(3)  NOT NULL CONSTRAINT df_customers_created_at DEFAULT SYSUTCDATETIME(),
    CONSTRAINT pk_customers PRIMARY KEY CLUSTERED (customer_id),
    CONSTRAINT uq_customers_email UNIQUE (email)
);
GO

CREATE TABLE shop.products (
    sku       VARCHAR(20)    NOT NULL,
    title     NVARCHAR(200)  NOT NULL,
    price     DECIMAL(10, 2) NOT NULL, -- in euros, tax included
    in_stock  INT            NOT NULL,
    retired   BIT            NOT NULL CONSTRAINT df_products_retired DEFAULT 0,
    CONSTRAINT pk_products PRIMARY KEY CLUSTERED (sku),
    CONSTRAINT ck_products_in_stock CHECK (in_stock >= 0)
);
GO

CREATE TABLE shop.orders (
    order_id    BIGINT           IDENTITY (1, 1) NOT NULL,
    public_id   UNIQUEIDENTIFIER NOT NULL CONSTRAINT df_orders_public_id DEFAULT NEWID(),
    customer_id INT              NOT NULL,
    placed_at   DATETIME2(3)     NOT NULL,
    shipped_at  DATETIME2(3)     NULL, -- NULL until the parcel has left
    discount    DECIMAL(5, 4)    NULL, -- 0.1 is ten per cent
    CONSTRAINT pk_orders PRIMARY KEY CLUSTERED (order_id),
    CONSTRAINT uq_orders_public_id UNIQUE (public_id)
);
GO

CREATE INDEX ix_orders_customer ON shop.orders (customer_id, placed_at);
GO

CREATE TABLE shop.order_lines (
    order_id BIGINT         NOT NULL,
    line_no  SMALLINT       NOT NULL,
    sku      VARCHAR(20)    NOT NULL,
    quantity INT            NOT NULL,
    price    DECIMAL(10, 2) NOT NULL, -- when the order was placed
    CONSTRAINT pk_order_lines PRIMARY KEY CLUSTERED (order_id, line_no)
);
GO

-- What a caller orders.
CREATE TYPE shop.order_line_list_v1 AS TABLE (
    sku      VARCHAR(20) NOT NULL PRIMARY KEY,
    quantity INT         NOT NULL
);
GO
