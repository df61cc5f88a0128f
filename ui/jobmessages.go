package ui

import tea "charm.land/bubbletea/v2"

// ofJob takes what comes of the acts of a job's page.
func (a *app) ofJob(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case revealedMsg:
		a.revealedSecrets(msg)
	case originalsMsg:
		a.originalsRead(msg)
	case copyMsg:
		return a.copyRead(msg)
	case editMsg:
		return a.editReady(msg)
	case editorMsg:
		return a.editorEnded(msg)
	case reviewMsg:
		return a.review(msg)
	case editedMsg:
		a.edited(msg)
	case actedMsg:
		a.actedOn(msg)
	}
	return nil
}
