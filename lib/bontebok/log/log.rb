# frozen_string_literal: true

require_relative "log_entry"
require_relative "log_fault"
require_relative "log_formats"
require_relative "log_stream"
require_relative "log_text"

module Bontebok
  # The server's own log. An entry has the time in UTC, the level, the process, the worker's number, the generation, and
  # the message. Every process writes to the same stream. Entries for which the stream has no room are lost and counted;
  # the count is logged when there is room again. So the log may be used before an exit! that must not fail. Not for
  # signal handlers, and not for the access log, which the core writes.
  class Log
    LEVELS = %i[info warn error].freeze
    # Seconds for which an entry waits for a reader that has stopped reading. Further entries do not wait until the
    # reader reads again. So such a reader costs lines of the log, never a request.
    PATIENCE = 0.2

    # Numbers of this process, shown in each entry.
    attr_writer :generation, :worker

    # level: the lowest level that is written.
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

    # Lets go of the former standard error after it was reopened. This must not wait for the next entry: the reader of
    # the former stream waits for its end.
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

    # The words are those for lost lines of the access log.
    def losses
      line(:warn, "log: a line is lost#{", and #{@lost - 1} more like it" if @lost > 1}")
    end

    # The parent logs its own losses.
    def forget_losses_of_parent
      return if @process == Process.pid

      @process = Process.pid
      @lost = 0
    end
  end
end
