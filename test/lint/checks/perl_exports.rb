# frozen_string_literal: true

require_relative "object_symbols"

module Lint
  # Checks the names that the objects of the Perl binding define for others. A name without a prefix of ours can replace
  # a name of another module in the same process. The shared object shows no name of the core: the process may have
  # another version of the core.
  class PerlExports
    # { objects of the build => names that they may define }
    OBJECTS = { "perl/objects/*.o" => /\Abb_/, "perl/xs/*.o" => /\A(bbp_|boot_Bontebok\z|XS_)/ }.freeze
    SHARED = "perl/blib/arch/auto/Bontebok/Bontebok.so"

    def initialize(root)
      @root = root
    end

    def faults
      found = OBJECTS.flat_map { |pattern, names| faults_of(ObjectSymbols.read(paths(pattern)), names) }
      found + faults_of(ObjectSymbols.read(paths(SHARED), "--dynamic"), OBJECTS["perl/xs/*.o"])
    end

    private

    def paths(pattern) = Dir[File.join(@root, pattern)]

    def faults_of(symbols, names)
      symbols.select { |_, name, own| own && !name.match?(names) }
             .map { |object, name, _| "#{object.delete_prefix("#{@root}/")} defines #{name}" }
    end
  end
end
