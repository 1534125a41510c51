# frozen_string_literal: true

require_relative "../generations/fake_process"

# The process of a worker, in tests of Children without processes.
class FakeWorker < FakeProcess
  # A stand-in for Process::Status.
  Status = Struct.new(:exitstatus, :termsig) do
    def signaled? = !termsig.nil?
    def success? = exitstatus&.zero?
  end

  attr_reader :number

  # If true, a KILL does not end the process yet.
  attr_accessor :busy

  def initialize(number, pid)
    super(pid)
    @number = number
  end

  # The words of its parent.
  def said = words

  # The process says these words.
  def say(*words)
    says(*words)
    self
  end

  def be_ready = say(:loaded, :ready)

  # The process closes its channel, as exec would.
  def close = says(:closed)

  def exit(status = 0) = end_with(Status.new(status))

  def die(signal) = end_with(Status.new(nil, Signal.list.fetch(signal.to_s)))

  # The process ends, and other code reaps it.
  def vanish = end_with(:unknown)

  # True from the moment at which the process ends.
  def over? = !@end.nil?

  # True if the process was told to end.
  def told_to_end? = said.intersect?(%i[drain retire quit])

  def check
    return unless over?

    @end == :unknown ? @ending = "unknown status" : ended(@end)
  end

  def signal(name)
    return if ended?

    signals << name
    die(name) if name == :KILL && !busy
  end

  private

  def end_with(status)
    @end ||= status
    close
  end
end
