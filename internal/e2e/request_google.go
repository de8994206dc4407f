package e2e

import "encoding/json"

// googleBody is what a request to Google has in the place of messages.
type googleBody struct {
	System   googleContent   `json:"systemInstruction"`
	Contents []googleContent `json:"contents"`
}

// googleContent is a message of Google's: that of the model, or of the user with
// what he said and the results of tools.
type googleContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
		Call    *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string `json:"id"`
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

// messages are those of the body, in the words of the other APIs.
func (b *googleBody) messages() []Message {
	var all []Message
	if len(b.System.Parts) > 0 {
		b.System.Role = "system"
		all = b.System.addTo(all)
	}
	for i := range b.Contents {
		all = b.Contents[i].addTo(all)
	}
	return all
}

func (c *googleContent) addTo(all []Message) []Message {
	own := Message{Role: c.Role}
	if c.Role == "model" {
		own.Role = "assistant"
	}
	results := 0
	for _, p := range c.Parts {
		switch {
		case p.Response != nil:
			results++
			all = append(all, Message{Role: "tool", Text: p.Response.Response.Output + p.Response.Response.Error, CallID: p.Response.ID})
		case p.Call != nil:
			own.Calls = append(own.Calls, ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: string(p.Call.Args)})
		case p.Thought:
			own.Thinking += p.Text
		default:
			own.Text += p.Text
		}
	}
	if results > 0 && results == len(c.Parts) {
		return all
	}
	return append(all, own)
}
