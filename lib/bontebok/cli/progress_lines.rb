# frozen_string_literal: true

require_relative "status/screen"

module Bontebok
  # The progress of a deploy on a terminal: a line for each worker. The lines are drawn again and again until the deploy
  # has ended.
  class ProgressLines
    # out: the terminal. The block returns the status of the server (Control), or nil.
    def initialize(out, &look)
      @out = out
      @look = look
      @drawn = 0
    end

    def draw
      processes = processes_of(@look.call) or return
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

    # Returns { pid => process }, or nil. The answer may have other types.
    def processes_of(server)
      processes = server["processes"] if server.is_a?(Hash)
      return unless processes.is_a?(Array)

      processes.grep(Hash).select { |one| one["pid"].is_a?(Integer) }.to_h { |one| [one["pid"], one] }
    end

    # process: nil if the worker has left.
    def former(process)
      return "old, has left" unless process

      return "old, serves" unless process["leaves"]

      "old, finishes #{process['busy'].is_a?(Integer) ? process['busy'] : '?'} requests"
    end

    def show(lines)
      lines = Screen.fit(@out, lines)
      erase
      @out.write(lines.map { |line| "#{line}\n" }.join)
      @out.flush
      @drawn = lines.size
    end
  end
end
