# frozen_string_literal: true

require_relative "log_entry"
require_relative "log_fault"
require_relative "log_formats"
require_relative "log_stream"
require_relative "log_text"

module Bontebok
  # The server's own log. An entry has the time in UTC, the level, the process, the worker's number, the generation, and
  # the message. Every process writes to the same stream. Entries for which the stream has no room are lost and counted;
  # the count is logged when there is room again. A stream that is full or closed raises no error. So a process may log
  # before an exit! that must not fail. Not for signal handlers, and not for the access log, which the core writes.
  class Log
    LEVELS = %i[info warn error].freeze
    # Seconds that an entry waits if the reader of the stream has stopped reading. Further entries are lost at once,
    # until the reader reads again. So a stopped reader costs lines of the log, never a request.
    WRITE_TIMEOUT = 0.2

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

    # Call it after standard error was reopened: closes the handle to the former stream. The reader of that stream waits
    # for its end, so this must not wait for the next entry.
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
        @taken = @lost.zero? && @stream.write(line, @taken ? WRITE_TIMEOUT : 0)
        @lost += 1 unless @taken
      end
    end

    # The access log reports its lost lines in the same words.
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
