# frozen_string_literal: true

require "bontebok/processes/forked_process"

# A ForkedProcess without a process. The test decides what the process says and how it ends. Signals and words of the
# parent are recorded.
class FakeProcess < Bontebok::ForkedProcess
  # The parent's end of the channel.
  class Channel
    # said: the words of the parent.
    attr_reader :said

    def initialize
      @said = []
      @words = []
    end

    def say(word) = @said << word

    def hear = @words.empty? && @ended ? [:closed] : @words.shift(Bontebok::Channel::MOST)

    def get(*words) = @words.concat(words)

    # Called when the process has closed its end.
    def end = @ended = true

    def close = @closed = true

    def closed? = !@closed.nil?
  end

  # A stand-in for Process::Status.
  Status = Struct.new(:exitstatus, :termsig) do
    def signaled? = !termsig.nil?
    def success? = exitstatus&.zero?
  end

  attr_reader :number, :signals

  # If true, a KILL does not end the process yet.
  attr_accessor :busy

  def initialize(number, pid)
    super(pid, Channel.new)
    @number = number
    @signals = []
  end

  def said = channel.said

  # The process says these words.
  def say(*words)
    channel.get(*words)
    self
  end

  def be_ready = say(:loaded, :ready)

  # The process closes its channel, as exec would.
  def close = channel.end

  def exit(status = 0) = end_with(Status.new(status))

  def die(signal) = end_with(Status.new(nil, Signal.list.fetch(signal.to_s)))

  # The process ends, and other code reaps it.
  def vanish = end_with(:unknown)

  # True from the moment at which the process ends.
  def over? = !@end.nil?

  # True if the process was told to end.
  def told_to_end? = said.intersect?(%i[drain retire quit])

  def check
    return unless @end

    @end == :unknown ? @ending = "unknown status" : ended(@end)
  end

  def signal(name)
    return if ended?

    @signals << name
    die(name) if name == :KILL && !busy
  end

  private

  def end_with(status)
    @end ||= status
    close
  end
end
