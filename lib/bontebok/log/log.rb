# frozen_string_literal: true

require_relative "json_format"
require_relative "log_fault"
require_relative "log_stream"
require_relative "log_text"
require_relative "text_format"

module Bontebok
  # The server's own log. An entry has the time in UTC, the level, the process, the worker's number, the generation (the
  # master's number), and the message. Every process writes to the same stream. An entry that the stream cannot take is
  # lost. The losses are logged when the stream can be written again. A full or closed stream raises no error, so a
  # process may log directly before exit!. Not for signal handlers, and not for the access log, which the core writes.
  class Log
    LEVELS = %i[info warn error].freeze
    # .line turns an Entry into text, one line or more.
    FORMATS = { "text" => TextFormat, "json" => JsonFormat }.freeze
    # time is text. worker and generation are nil for a process that has none. fault is a LogFault or nil. LogText has
    # cleaned the message and the texts of the fault.
    Entry = Struct.new(:time, :level, :pid, :worker, :generation, :message, :fault)
    private_constant :FORMATS, :Entry
    # Seconds that the first entry waits if the reader of the stream has stopped reading. All entries after this one are
    # lost at once, until the reader reads again. So a stopped reader does not delay requests.
    WRITE_TIMEOUT = 0.2

    # The numbers of the generation and of the worker, shown in each entry. on_loss: called for each entry that is lost.
    attr_writer :generation, :worker, :on_loss

    # level: the lowest level that is written.
    def initialize(stream = $stderr, format: "text", level: "info")
      @stream = LogStream.new(stream)
      configure(format: format, level: level)
      @lock = Mutex.new
      @lost = 0
      @taken = true
      @process = Process.pid
    end

    # Raises KeyError if there is no such format.
    def configure(format:, level:)
      @format = FORMATS.fetch(format)
      @levels = LEVELS.drop_while { |one| one != level.to_sym }
    end

    LEVELS.each do |level|
      define_method(level) { |message, exception = nil| write(level, message, exception) }
    end

    def write(level, message, exception = nil)
      return unless @levels.include?(level)

      text = line(level, LogText.clean(message), exception && LogFault.read(exception))
      put(text)
      witness = @witness # another thread may dismiss it
      LogStream.new(witness).write_once(text) if witness && level != :info
    end

    # An IO that also gets warnings and errors, until #dismiss_witness. It belongs to this object.
    def witness=(stream)
      dismiss_witness
      @witness = stream
    end

    # Writes text that is an entry of another process, or no entry at all.
    def copy(text) = put(text)

    def dismiss_witness
      @witness&.close
      @witness = nil
    end

    # Closes the handle to the former stream. Call this method directly after standard error was reopened, because the
    # reader of the former stream waits for end-of-file.
    def follow
      @lock.synchronize { @stream.follow }
    rescue SystemCallError, IOError
      nil
    end

    def disown
      @stream.disown
      dismiss_witness
    end

    private

    def line(level, message, fault = nil)
      time = Time.now.utc.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
      @format.line(Entry.new(time, level, Process.pid, @worker, @generation, message, fault))
    end

    def put(line)
      @lock.synchronize do
        forget_losses_of_parent
        @lost = 0 if @lost.positive? && @stream.write(losses, 0)
        @taken = @lost.zero? && @stream.write(line, @taken ? WRITE_TIMEOUT : 0)
        lose unless @taken
      end
    end

    def lose
      @lost += 1
      @on_loss&.call
    end

    # The access log reports its lost lines in the same words.
    def losses
      line(:warn, "log: a line is lost#{", and #{@lost - 1} more like it" if @lost > 1}")
    end

    # A forked process does not log the losses of its parent, because the parent logs them itself.
    def forget_losses_of_parent
      return if @process == Process.pid

      @process = Process.pid
      @lost = 0
    end
  end
end
