# frozen_string_literal: true

module Bontebok
  # The controlling terminal of the server: the window, the ssh session or the pane of tmux that it was started in. A
  # service manager, setsid and a daemon have none.
  class Terminal
    PATH = "/dev/tty"
    # Seconds between two looks of #watch, and the number of looks.
    INTERVAL = 0.5
    LOOKS = 20

    # True if this process has a controlling terminal.
    def self.here?
      File.open(PATH, File::RDONLY | File::NOCTTY, &:tty?)
    rescue SystemCallError
      false
    end

    # Create the object at the start of the server.
    def initialize
      @here = Terminal.here?
    end

    # True if the server was started in a terminal that is closed now. The kernel then takes the terminal from all
    # processes of the session, before it sends HUP to the shell.
    def closed?
      @here && File.open(PATH, File::RDONLY | File::NOCTTY) { false }
    rescue Errno::ENXIO, Errno::EIO
      true
    rescue SystemCallError
      false
    end

    # Called when HUP came although the terminal is there. A shell that exits may send HUP to its jobs while it still
    # has the terminal. Calls the block in a thread if the terminal is closed soon after.
    def watch
      return unless @here

      Thread.new { yield if LOOKS.times.any? { sleep(INTERVAL) && closed? } }
    end
  end
end
