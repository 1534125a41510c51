# frozen_string_literal: true

# In place of Listeners: it opens nothing, and notes what it was told.
class FakeListeners
  include Enumerable

  # What a Listeners has.
  module Parts
    # In place of WorkerLinks. serving: pids of workers.
    Links = Struct.new(:descriptors, :totals, :serving)
    Listener = Struct.new(:address, :socket, :origin, :file) do
      def shared? = false
    end
    Passed = Struct.new(:files, :shared)
    # In place of Totals. asked: the arguments of #pass.
    Totals = Struct.new(:files, :asked) do
      def pass(*arguments, **options)
        self.asked = [*arguments, options]
        Passed.new(files, true)
      end
    end
  end

  # steps: what it was told. names: of the hosts, as the master has sent them.
  attr_reader :worker_links, :names, :steps
  # The next #bind or #listen raises it; nil: none.
  attr_accessor :fault

  def initialize(list, worker_links)
    @list = list
    @worker_links = worker_links
    @steps = []
  end

  # The next configuration has the same listeners.
  def next(_config, names)
    @names = names
    self
  end

  %i[bind listen].each do |step|
    define_method(step) { note(step) && @fault && raise(@fault) }
  end

  def each(&) = @list.each(&)
  def stored? = false
  def discard = note(:discard)
  def take_effect(_former) = note(:take_effect)

  private

  def note(step) = @steps << step
end
