# frozen_string_literal: true

require "test_helper"
require_relative "support/framework_cases"

# Tests frameworks that Debian does not have. install_frameworks installs them into a directory. Without the variable
# that names the directory, there are no tests.
if (directory = ENV.fetch("BONTEBOK_PERL_FRAMEWORKS", nil))
  library = File.expand_path("lib/perl5", directory)
  { "Kossy" => "kossy", "Amon2" => "amon2" }.each do |name, application|
    Object.const_set("#{name}Test", Class.new(Interop::FrameworkCases) do
      define_method(:application) { application }
      define_method(:library) { library }
    end)
  end
end
