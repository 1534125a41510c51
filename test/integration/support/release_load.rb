# frozen_string_literal: true

# Clients of releases with files of `public`, for tests of deploys. Each has a thread, and connects again and again.
# Each response must be what one of the releases sends that may serve now. A connection may come to a worker of another
# release between two requests.
class ReleaseLoad
  include Support::Eventually

  CLIENTS = 2
  # The core keeps the first file in memory. Each release has also a file that the others do not have.
  FILES = { "/small.txt" => 50, "/large.txt" => 5000 }.freeze
  OWN = (1..3).to_h { |number| ["/own#{number}.txt", number] }.freeze
  TARGETS = ["/", *FILES.keys, *OWN.keys, "/", *OWN.keys].freeze

  APP = <<~'RUBY'
    number = File.basename(Dir.pwd)
    run ->(env) { [200, {}, ["application #{number} #{env["PATH_INFO"]}"]] }
  RUBY

  # The files of a release, as { name => text }.
  def self.files(number)
    names = [*FILES.keys, OWN.key(number)]
    { "config.ru" => APP, **names.to_h { |name| ["public#{name}", file(number, name)] } }
  end

  def self.file(number, name) = "file #{number} #{name}\n" * FILES.fetch(name, 1)

  # The content of a release.
  def self.expected(number, target)
    target == "/" || OWN.fetch(target, number) != number ? "application #{number} #{target}" : file(number, target)
  end

  # address: of the server. number: the release that serves.
  def initialize(address, number)
    @address = address
    @may_serve = [number]
    @forgives = @stops = false
    @seen = Array.new(CLIENTS) { [] } # for each client and connection, the releases that have answered
    @threads = Array.new(CLIENTS) { |client| Thread.new { run(@seen[client]) } }
  end

  # During the block, this release may serve, too. When the block has ended, it is the only one.
  def change_to(number)
    @may_serve |= [number]
    yield
    await(number)
    @may_serve = [number]
    await(number)
  end

  # Waits until each client has had the release on five connections.
  def await(number)
    counts = @seen.map(&:size)
    eventually("release #{number}", seen: -> { @seen.map { |seen| seen.last(5) } }) do
      @threads.each { |thread| thread.value unless thread.alive? } # raises what the client has raised
      @seen.zip(counts).all? { |seen, count| seen.drop(count).last(5) == [[number]] * 5 }
    end
  end

  # During the block, a connection may end without a response, as those of a killed worker do.
  def forgive
    @forgives = true
    yield
  ensure
    @forgives = false
  end

  def stop
    @stops = true
    @threads.each(&:value)
  end

  private

  def run(seen)
    Thread.current.report_on_exception = false
    seen << converse until @stops
  end

  # Returns the releases that have answered on a connection.
  def converse
    numbers = []
    Support::Client.open(@address) do |client|
      TARGETS.each_with_index do |target, index|
        response = ask(client, target, index) || break
        numbers |= [release_of(target, response)]
        break unless response.keep_alive?
      end
    end
    numbers
  end

  # A server may close an idle connection while a request is on its way (RFC 9112 9.3.1), but not before the first
  # response.
  def ask(client, target, index)
    client.request("GET", target)
    client.read_response
  rescue Support::Client::Closed => e
    raise unless @forgives || (index.positive? && e.partial.empty?)
  end

  def release_of(target, response)
    found = @may_serve.find { |number| response.body == ReleaseLoad.expected(number, target) }
    return found if found && response.status == 200

    raise Support::Error, "#{target}, while #{@may_serve} may serve: #{response.inspect[0, 600]}"
  end
end
