# frozen_string_literal: true

module Bontebok
  # The controlling terminal, which sends INT for Ctrl-C, and HUP when its window is closed.
  class Terminal
    PATH = "/dev/tty"

    # True if this process has a controlling terminal. Not true under a service manager, setsid, or a closed terminal.
    def self.here?
      File.open(PATH, File::RDONLY | File::NOCTTY, &:tty?)
    rescue SystemCallError
      false
    end
  end
end
