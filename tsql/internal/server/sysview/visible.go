package sysview

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// sees reports whether an object is there for who asks: one that has no permission on it does not find it. Parts of a
// table are visible with it. The tables of table types are found with their types.
func (c *Context) sees(o schema.Object) bool {
	if c.User == nil {
		return true
	}
	if h := o.Head(); h.Kind == "TT" {
		for _, u := range c.Database.Types {
			if u.Table != nil && u.Table.ID == h.ID {
				return c.seesType(u)
			}
		}
	}
	return c.Database.Visible(c.User, o)
}

func (c *Context) seesType(u *schema.UserType) bool {
	return c.User == nil || c.Database.VisibleType(c.User, u)
}

// seesDefinition reports whether the text of an object may be read, which takes more than being allowed to use it.
func (c *Context) seesDefinition(o schema.Object) bool {
	return c.User == nil || c.Database.MayObject(c.User, "VIEW DEFINITION", o, nil)
}

// may reports whether who asks has a permission on the database.
func (c *Context) may(permission string) bool {
	return c.User == nil || c.Database.May(c.User, permission, schema.Securable{Class: "DATABASE"})
}

// mayServer reports whether who asks has VIEW SERVER STATE.
func (c *Context) mayServer() bool {
	return c.Login == nil || c.Server.MayLogin(c.Login, serverState, nil)
}

// requires makes a list one that is refused without a permission on the database or, for VIEW SERVER STATE, on the
// server.
func requires[T any](permission string, list func(c *Context) ([]T, error)) func(c *Context) ([]T, error) {
	return func(c *Context) ([]T, error) {
		switch {
		case permission == serverState && !c.mayServer():
			return nil, fault.New(300, permission, "server", "master")
		case permission != serverState && !c.may(permission):
			return nil, fault.New(262, permission, c.Database.Name)
		}
		return list(c)
	}
}

const serverState = "VIEW SERVER STATE"
