# frozen_string_literal: true

require "io/console"

module Bontebok
  # The progress of a deploy on a terminal: a line for each worker. The lines are drawn again and again until the deploy
  # has ended.
  class ProgressLines
    # Rows and columns of a terminal that does not know its size.
    SIZE = [24, 80].freeze

    # out: the terminal. The block returns the status of the server (Commands#server_status), or nil.
    def initialize(out, &look)
      @out = out
      @look = look
      @drawn = 0
    end

    def draw
      server = @look.call or return
      processes = server["processes"].to_h { |process| [process["pid"], process] }
      @former ||= processes.keys
      lines = @former.map { |pid| "worker (pid #{pid}): #{former(processes[pid])}" }
      new = processes.except(*@former)
      lines.concat(new.map { |pid, _| "worker (pid #{pid}): new, serves" })
      lines << "the new workers load the application" if new.empty?
      show(lines)
    end

    def erase
      @out.write("\e[#{@drawn}A\e[J") if @drawn.positive?
      @drawn = 0
    end

    private

    # process: nil if the worker has left.
    def former(process)
      return "old, has left" unless process

      process["leaves"] ? "old, finishes #{process['busy']} requests" : "old, serves"
    end

    # A line that the terminal breaks could not be erased.
    def show(lines)
      rows, columns = @out.winsize.zip(SIZE).map { |size, usual| size.zero? ? usual : size }
      lines = lines.first([rows - 1, 1].max).map { |line| line[0, [columns - 1, 1].max] }
      erase
      @out.write(lines.map { |line| "#{line}\n" }.join)
      @out.flush
      @drawn = lines.size
    end
  end
end
