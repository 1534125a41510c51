# frozen_string_literal: true

require_relative "log_entry"
require_relative "log_fault"
require_relative "log_formats"
require_relative "log_stream"
require_relative "log_text"

module Bontebok
  # The server's own log: an entry has the time in UTC, the level, the process, its worker's number and its generation,
  # and the message. Every process writes to the same stream. Entries for which it has no room are lost, counted, and
  # told of when there is room again; so it may be used before an exit! that must not fail. Never used in a signal
  # handler.
  class Log
    LEVELS = %i[info warn error].freeze
    # A reader that has stopped reading costs lines, never a request: we wait for it so many seconds, and not again
    # before it reads.
    PATIENCE = 0.2

    # Numbers of this process, for each entry.
    attr_writer :generation, :worker

    # level: the first of those that are written.
    def initialize(stream = $stderr, format: "text", level: "info")
      @stream = LogStream.new(stream)
      @format = LogFormats::ALL.fetch(format)
      @levels = LEVELS.drop_while { |one| one != level.to_sym }
      @lock = Mutex.new
      @lost = 0
      @taken = true
      @process = Process.pid
    end

    LEVELS.each do |level|
      define_method(level) { |message, exception = nil| write(level, message, exception) }
    end

    def write(level, message, exception = nil)
      return unless @levels.include?(level)

      put(line(level, LogText.clean(message), exception && LogFault.read(exception)))
    end

    # Not only with the next entry: whoever read what standard error was before it was reopened waits for its end.
    def follow
      @lock.synchronize { @stream.follow }
    rescue SystemCallError, IOError
      nil
    end

    def disown
      @stream.disown
    end

    private

    def line(level, message, fault = nil)
      time = Time.now.utc.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
      @format.line(LogEntry.new(time, level, Process.pid, @worker, @generation, message, fault))
    end

    def put(line)
      @lock.synchronize do
        forget_losses_of_parent
        @lost = 0 if @lost.positive? && @stream.write(losses, 0)
        @taken = @lost.zero? && @stream.write(line, @taken ? PATIENCE : 0)
        @lost += 1 unless @taken
      end
    end

    # In the words in which the access log's are told.
    def losses
      line(:warn, "log: a line is lost#{", and #{@lost - 1} more like it" if @lost > 1}")
    end

    # It tells of them itself.
    def forget_losses_of_parent
      return if @process == Process.pid

      @process = Process.pid
      @lost = 0
    end
  end
end
